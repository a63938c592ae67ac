# The one entry for everything that CI checks. Tools are pinned in tools/go.mod.
TOOL := go tool -modfile=tools/go.mod

.PHONY: check format vet staticcheck tidy test race realtime fuzz

check: format vet staticcheck tidy test race realtime

format:
	@out="$$($(TOOL) gofumpt -l .)"; if [ -n "$$out" ]; then echo "not formatted (gofumpt -w):"; echo "$$out"; exit 1; fi

vet:
	go vet ./...
	go vet -tags realtime ./...

staticcheck:
	$(TOOL) staticcheck ./...

tidy:
	go mod tidy -diff

test:
	go test ./...

# The packages that start goroutines. The property tests are shorter under the race detector by themselves.
race:
	go test -race ./assign/... ./election/... ./fencing/... ./internal/... ./metrics/... ./roles/... ./propertytests/...

# Clusters and child processes, in real time: one cycle of each.
realtime:
	go test -tags realtime -run 'Cluster|Process|Rolling|Realtime' -count 1 ./internal/natstest/... ./propertytests/... ./cmd/rolectl/...

# Every fuzz target for a while: FUZZTIME=1h for a long run.
FUZZTIME ?= 10s

fuzz:
	go run ./propertytests/fuzz -time $(FUZZTIME)

# The one entry for everything that CI checks. Tools are pinned in tools/go.mod.
TOOL := go tool -modfile=tools/go.mod

.PHONY: check format vet staticcheck tidy test nested mutants race realtime fuzz

check: format vet staticcheck tidy test nested mutants race realtime fuzz

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

# Modules of their own, which ./... leaves out: an example whose database driver nobody else needs.
nested:
	cd examples/fencing/sqlite && go mod tidy -diff && go vet ./... && go test ./...

# A few seeded bugs, which have to be found. The commit chooses them, and they run side by side. For all of them, or for those whose
# texts have changed, see propertytests/mutants. The driver's are left out: on the real server not every run is the same.
MUTANTS_SEED ?= $(shell git rev-parse HEAD 2>/dev/null || echo none)

mutants:
	MUTANTS=some MUTANTS_SEED=$(MUTANTS_SEED) go test -count 1 -run 'Mutants$$' ./propertytests/sim ./propertytests/tasksim ./propertytests/explore/...

# The packages that start goroutines. The property tests are shorter under the race detector by themselves.
race:
	go test -race ./assign/... ./election/... ./fencing/... ./internal/... ./metrics/... ./roles/... ./propertytests/...

# Clusters, child processes, servers whose clock steps and whose files are torn, in real time. Of what is done in cycles one of each,
# since all of this is to end within a quarter of an hour; many of each, on record with the product that they are of:
# go run ./propertytests/cycles -cycles 50
realtime:
	go test -tags realtime -run 'Cluster|Process|Rolling|Realtime' -count 1 -timeout 14m ./internal/natstest/... ./fencing ./propertytests/cycles ./cmd/rolectl/... ./assign
	go run ./propertytests/cycles -cycles 1 -lanes 4 -file ''

# Every fuzz target for a short while. A long run: go run ./propertytests/fuzz -execs 10000000
FUZZTIME ?= 10s

fuzz:
	go run ./propertytests/fuzz -time $(FUZZTIME)

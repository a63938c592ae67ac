# Everything that CI checks is a stage of internal/check. The tools that it runs are pinned in tools/go.mod.
STAGES := format vet tidy test race realtime browser nested page staticcheck mutants play fuzz

.PHONY: check $(STAGES)

check:
	go run ./internal/check

$(STAGES):
	go run ./internal/check $@

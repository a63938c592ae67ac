package main

import (
	"context"
	"io"
	"time"
)

// stage is a part of the check: the commands that it runs, one after the other.
type stage struct {
	name  string
	steps func(ctx context.Context) ([]step, error)
}

// tool runs a command that tools/go.mod pins.
const tool = "go tool -modfile=tools/go.mod "

// test runs tests. The vet stage has vetted them, and no debugger needs their binaries. Some
// packages wait for real time, so three run at a time; a later -p sets more where most of them
// wait. The time limit of a package is for a busy machine.
const test = "go test -vet=off -ldflags=-w -timeout 20m -p 3 "

// stages are all of them, the quick ones first.
var stages = []stage{
	{"format", always(step{line: tool + "gofumpt -l .", silent: "these files are not formatted: gofumpt -w"})},
	{"vet", vets},
	// Every file but those that the tag excludes, which vet sees.
	{"staticcheck", always(step{line: tool + "staticcheck -tags realtime ./..."})},
	{"tidy", always(step{line: "go mod tidy -diff"})},
	// The packages that take longest begin first.
	{"test", always(step{line: test + "./propertytests/... ./..."})},
	{"nested", nested},
	{"mutants", mutants},
	// The property tests are shorter under the race detector by themselves.
	{"race", races},
	// Clusters, child processes, servers whose clock steps and whose files are torn, in real time.
	// Each test that plays cycles plays one. To play many of each, and record them with the product
	// that they tested: go run ./propertytests/campaign cycles -cycles 50
	{"realtime", always(
		step{line: test + "-p 6 -tags realtime -run Cluster|Process|Rolling|Realtime -count 1 " +
			"./internal/natstest/... ./fencing ./propertytests/campaign/cycles ./cmd/rolectl/... ./assign"},
		step{line: "go run ./propertytests/campaign cycles -cycles 1 -lanes 6 -file="},
	)},
	// Every fuzz target runs for a short while, and targets of recently changed packages run
	// longer. A long run: go run ./propertytests/campaign fuzz -execs 10000000
	{"fuzz", always(step{line: "go run ./propertytests/campaign fuzz -time 3s -commits 10 -changed 20s -most 150s"})},
}

// always is for a stage whose commands are the same wherever it runs.
func always(steps ...step) func(context.Context) ([]step, error) {
	return func(context.Context) ([]step, error) { return steps, nil }
}

// mutants plants a few bugs, which must be found. The commit chooses them, and they run side by
// side. For all of them, or for those whose texts have changed, see propertytests/campaign/mutants.
// The driver's are left out, because on the real server not every run is the same.
func mutants(ctx context.Context) ([]step, error) {
	return []step{{
		line: test + "-count 1 -run Mutants$ ./propertytests/model/...",
		env:  []string{"MUTANTS=some", "MUTANTS_SEED=" + commit(ctx)},
	}}, nil
}

// run runs the commands of the stage until one fails. The last figure is that of the stage.
func (s stage) run(ctx context.Context, w io.Writer) (figures []figure, err error) {
	began := time.Now()
	sum := figure{stage: s.name, result: "ok"}
	steps, err := s.steps(ctx)
	for i := 0; err == nil && i < len(steps); i++ {
		var packages []figure
		var cpu time.Duration
		packages, cpu, err = steps[i].run(ctx, w)
		for _, p := range packages {
			p.stage = s.name
			figures = append(figures, p)
		}
		sum.cpu += cpu
	}
	if err != nil {
		sum.result = "FAIL"
	}
	sum.wall = time.Since(began)
	return append(figures, sum), err
}

package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// stage is a part of the check: the commands that it runs.
type stage struct {
	name   string
	steps  func(ctx context.Context) ([]step, error)
	after  []string // the stages that must have ended before; it runs beside all others
	atOnce bool     // the commands run side by side, since each waits most of the time, and not one after the other
}

// tool runs a command that tools/go.mod pins. The flags of GOFLAGS, which go tool ignores, build it
// and all else, so nothing is built twice.
const tool = "go run -modfile=tools/go.mod "

// test runs tests. The vet stage has vetted them. Some packages wait for real time, so three run at
// a time, some of them in two processes; a later -p sets more where most of them wait. The time
// limit of a package is for a busy machine.
const test = "go test -vet=off -timeout 20m -p 3 "

// yielding begins a command of the nested modules, which are tested beside the page: what the
// browser has to do comes first. filling begins one that computes beside stages that wait for real
// time: it has what these leave.
const (
	yielding = "nice "
	filling  = "nice -n 19 "
)

// roomy is the environment of a tool that keeps most of what it makes: with the collector's usual
// pace, a third of its time would go into looking through that. It takes gigabytes.
var roomy = []string{"GOGC=off", "GOMEMLIMIT=4GiB"}

// longest are the packages whose tests take longest. A stage begins with them, so that none of them
// is left alone at the end.
var longest = []string{
	"propertytests/live/storms", "assign", "propertytests/model/electionsim", "propertytests/live", "cmd/rolectl",
	"propertytests/model/explore", "election", "roles", "internal/adoption",
}

// stages are all of them. In one line, each after the one before, are those that have to answer in
// time, the quick ones first. Beside them are those that only compute: these have a line of their
// own, and yield. It begins when all is compiled that staticcheck reads, and continues when the
// tests have compiled what the next ones run.
var stages = []stage{
	one("format", always(step{
		line: tool + "mvdan.cc/gofumpt -l .", silent: "these files are not formatted: gofumpt -w",
	})),
	one("vet", vets, "format"),
	one("tidy", always(step{line: "go mod tidy -diff"}), "vet"),
	one("test", tests, "tidy"),
	// The property tests are shorter under the race detector by themselves.
	one("race", races, "test"),
	{name: "realtime", after: []string{"race"}, atOnce: true, steps: realtime},
	// Chromium is installed while others compute, and compile.
	one("browser", browser, "vet"),
	// Both wait too, but not beside the stage before: servers did not answer in time there.
	one("nested", nested, "realtime"),
	one("page", page, "realtime", "browser"),
	// Every file but those that the tag excludes, which vet sees.
	one("staticcheck", always(step{
		line: filling + tool + "honnef.co/go/tools/cmd/staticcheck -tags realtime ./...", env: roomy,
	}), "vet"),
	// A commit runs one of these, see rounds.
	one("mutants", mutants, "staticcheck", "test"),
	one("play", plays, "mutants"),
	// Targets of recently changed packages run for a while, and a tenth of the others for a shorter
	// one. A long run of all: go run ./propertytests/campaign fuzz -execs 10000000
	one("fuzz", fuzzes, "play"),
}

// one is a stage whose commands run one after the other.
func one(name string, steps func(context.Context) ([]step, error), after ...string) stage {
	return stage{name: name, steps: steps, after: after}
}

// always is for a stage whose commands are the same wherever it runs.
func always(steps ...step) func(context.Context) ([]step, error) {
	return func(context.Context) ([]step, error) { return steps, nil }
}

// tests plays all tests, but of the long ones those that the commit draws.
func tests(ctx context.Context) ([]step, error) {
	env, err := longOnes(ctx)
	return []step{{line: test + "./" + strings.Join(longest, " ./") + " ./...", env: env}}, err
}

// realtime plays clusters, child processes, servers whose clock steps and whose files are torn, in
// real time. Of the tests that play cycles a commit plays every other one, and all when one of them
// changed lately or with THOROUGH=all, for one cycle each. To play many of each, and record them
// with the product that they tested: go run ./propertytests/campaign cycles -cycles 50
func realtime(ctx context.Context) ([]step, error) {
	cycles := "go run ./propertytests/campaign cycles -cycles 1 -lanes 6 -file="
	lately, err := changed(ctx, ".", recent, filesOfTest)
	is := func(file string) bool { return strings.Contains(filepath.ToSlash(file), "/propertytests/live/") }
	if err == nil && !slices.ContainsFunc(lately, is) && os.Getenv(draw.Key) != draw.All {
		cycles += " -seed " + commit(ctx)
	} // outside a repository nobody knows what has changed
	return []step{
		{line: cycles},
		{line: test + "-p 5 -tags realtime -run Cluster|Process|Rolling|Realtime -count 1 " +
			"./assign ./internal/natstest ./fencing ./propertytests/campaign/cycles ./propertytests/live/shards " +
			"./cmd/rolectl"},
		// The models of the server beside a real one.
		{line: test + "-tags realtime -run Conforms -count 1 ./propertytests/model/electionsim " +
			"./propertytests/model/tasksim ./propertytests/model/explore/elections ./propertytests/model/explore/tasks"},
	}, nil
}

// mutants plants a few bugs, which must be found. The commit chooses them, and they run side by
// side. For all of them, or for those whose texts have changed, see propertytests/campaign/mutants.
// The driver's are left out, because on the real server not every run is the same.
func mutants(ctx context.Context) ([]step, error) {
	return []step{{
		line: filling + test + "-count 1 -run Mutants$ ./propertytests/model/...",
		env:  []string{"MUTANTS=some", "MUTANTS_SEED=" + commit(ctx)},
	}}, nil
}

// fuzzes runs the fuzz targets that the commit draws.
func fuzzes(ctx context.Context) ([]step, error) {
	return []step{{
		line: filling + "go run ./propertytests/campaign fuzz -time 3s -commits 3 -changed 8s -most 15s -seed " +
			commit(ctx),
	}}, nil
}

// run runs the commands of the stage until one fails. The last figure is that of the stage.
func (s stage) run(ctx context.Context, w io.Writer) (figures []figure, err error) {
	began := time.Now()
	sum := figure{stage: s.name, result: "ok"}
	steps, err := s.steps(ctx)
	of, cpus := make([][]figure, len(steps)), make([]time.Duration, len(steps))
	running, unlessOneFails := errgroup.WithContext(ctx)
	if !s.atOnce {
		running.SetLimit(1)
	}
	lines := &wholeLines{to: w}
	for i, step := range steps {
		running.Go(func() (err error) {
			if err := unlessOneFails.Err(); err != nil {
				return err
			}
			of[i], cpus[i], err = step.run(unlessOneFails, lines)
			return err
		})
	}
	err = errors.Join(err, running.Wait())
	for i, packages := range of {
		for _, p := range packages {
			p.stage = s.name
			figures = append(figures, p)
		}
		sum.cpu += cpus[i]
	}
	if err != nil {
		sum.result = "FAIL"
	}
	sum.wall = time.Since(began)
	return append(figures, sum), err
}

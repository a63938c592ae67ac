package fuzz

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// outcome is what one target has come to.
type outcome struct {
	executions int
	found      int // inputs that went a way that no other went
	said       []byte
	err        error
}

func (r outcome) verdict() string {
	if r.err != nil {
		return "FAILED"
	}
	return "ok"
}

var executions = regexp.MustCompile(`execs: (\d+) \(.*new interesting: (\d+)`)

// errIdle says that the target has run nothing: that proves nothing.
var errIdle = errors.New("it has executed nothing")

// run gives the target its time. A machine that is so busy that nothing was executed in it gives it
// more.
func (t target) run(ctx context.Context, binary string, each time.Duration) (r outcome) {
	for _, d := range []time.Duration{each, 10 * each} {
		if r = t.runFor(ctx, binary, d.String()); r.err != nil || r.executions > 0 {
			return r
		}
	}
	r.err = errIdle
	return r
}

// runFor runs the target for a time (10s) or a number of executions (1000x), as -fuzztime takes it.
func (t target) runFor(ctx context.Context, binary, each string) (r outcome) {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return outcome{err: err}
	}
	corpus := filepath.Join(strings.TrimSpace(string(cache)), "fuzz", t.pkg.ImportPath)
	if err := os.MkdirAll(corpus, 0o777); err != nil {
		return outcome{err: err}
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+each,
		"-test.fuzzcachedir="+corpus, "-test.fuzzminimizetime=100x", "-test.parallel=1", "-test.timeout=0")
	cmd.Dir = t.pkg.Dir // what fails is written below it
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	r.err = cmd.Run()
	r.said = said.Bytes()
	if all := executions.FindAllSubmatch(r.said, -1); len(all) > 0 {
		r.executions, _ = strconv.Atoi(string(all[len(all)-1][1])) // digits
		r.found, _ = strconv.Atoi(string(all[len(all)-1][2]))
	}
	// When its time is over, the fuzzer of Go before 1.27 may take its own deadline for a failure
	// (go.dev/issue/75804). An input that fails is written to a file, and said to be.
	if r.err != nil && ctx.Err() == nil && bytes.Contains(r.said, []byte("context deadline exceeded")) &&
		!bytes.Contains(r.said, []byte("Failing input")) {
		r.err = nil
	}
	return r
}

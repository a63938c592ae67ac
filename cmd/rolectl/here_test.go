package main

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/connect"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// starters are the commands that start programs: those get the streams, signals and variables of
// the process.
var starters = []string{"dev", "exec", "guard"}

// run runs rolectl to its end, with nothing on standard input. It is a process of its own if it
// starts programs.
func (p *place) run(args ...string) result {
	p.t.Helper()
	if slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(starters, arg) }) {
		return p.start(args...).wait()
	}
	return p.here(args...)
}

// here is run, in the process of the tests, since the start of a process takes longer than what
// most commands do. A run that leaves nothing out starts one nevertheless, in every other test.
func (p *place) here(args ...string) result {
	p.t.Helper()
	if thorough.Larger() && len(p.t.Name())%2 == 0 {
		return p.start(args...).wait()
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		p.t.Fatal(err)
	}
	defer in.Close()
	var out, errs bytes.Buffer
	var wg sync.WaitGroup
	a := &cli.App{In: in, Out: p.into(&out, &wg), Err: p.into(&errs, &wg), Settings: connect.Settings{Env: p.variable}}
	ctx, cancel := context.WithCancel(context.Background()) // without a deadline, as that of main
	defer cancel()
	defer time.AfterFunc(patience, cancel).Stop()
	code := run(ctx, a, args)
	a.Out.Close()
	a.Err.Close()
	wg.Wait()
	r := result{code, out.String(), errs.String()}
	if ctx.Err() != nil {
		p.t.Fatalf("rolectl %s hangs:\n%s%s", strings.Join(args, " "), r.out, r.errors)
	}
	return r
}

// into is a pipe for output, as a process gets it.
func (p *place) into(b *bytes.Buffer, wg *sync.WaitGroup) *os.File {
	p.t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	wg.Go(func() {
		defer reader.Close()
		_, _ = b.ReadFrom(reader) // ends when the writer is closed
	})
	return writer
}

// variable is the value of a variable of the environment: of several, the last counts, as for a
// process.
func (p *place) variable(name string) string {
	for _, v := range slices.Backward(p.env) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}

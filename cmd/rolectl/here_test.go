package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
// most commands do. A run that leaves nothing out starts one nevertheless.
func (p *place) here(args ...string) result {
	p.t.Helper()
	if thorough.Asked() {
		return p.start(args...).wait()
	}
	in, err := os.Open(os.DevNull)
	if err != nil {
		p.t.Fatal(err)
	}
	defer in.Close()
	dir := p.t.TempDir()
	out, errs := p.file(dir, "out"), p.file(dir, "errors")
	defer out.Close()
	defer errs.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	a := &cli.App{In: in, Out: out, Err: errs, Settings: connect.Settings{Env: p.variable}}
	code := run(ctx, a, args)
	r := result{code, p.read(out), p.read(errs)}
	if ctx.Err() != nil {
		p.t.Fatalf("rolectl %s hangs:\n%s%s", strings.Join(args, " "), r.out, r.errors)
	}
	return r
}

func (p *place) file(dir, name string) *os.File {
	p.t.Helper()
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return f
}

func (p *place) read(f *os.File) string {
	p.t.Helper()
	text, err := os.ReadFile(f.Name())
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
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

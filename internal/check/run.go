package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// step is one command.
type step struct {
	line   string   // its words, with a space between two
	dir    string   // where it runs; empty: here
	env    []string // added to the environment
	silent string   // what output means, if the command must be silent; empty: it may print
}

// run runs the command, writes its output, and returns the packages that it has tested and the CPU
// time that it took.
func (s step) run(ctx context.Context, w io.Writer) (packages []figure, cpu time.Duration, err error) {
	shown := s.line
	if s.dir != "" {
		shown += " (in " + s.dir + ")"
	}
	fmt.Fprintf(w, "%s\n", shown)
	words := strings.Fields(s.line)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) } // go test stops its tests then
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir, cmd.Env = s.dir, slices.Concat(os.Environ(), s.env)
	out, errs := &output{to: w}, &output{to: w}
	cmd.Stdout, cmd.Stderr = out, errs
	err = cmd.Run()
	out.end()
	errs.end()
	if state := cmd.ProcessState; state != nil {
		cpu = state.UserTime() + state.SystemTime()
	}
	if err == nil && s.silent != "" && out.bytes > 0 {
		err = errors.New(s.silent)
	}
	return out.packages, cpu, err
}

// wholeLines passes on what several commands write, each time a line.
type wholeLines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *wholeLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}

// output passes on the output of a command, line by line, and reads the seconds of packages from
// it.
type output struct {
	to       io.Writer
	bytes    int
	err      error  // of writing
	line     []byte // the beginning of the next line
	packages []figure
}

// tested is the line that go test prints for a package.
var tested = regexp.MustCompile(`^(ok  |FAIL)\t(\S+)\t(?:([0-9.]+s)|(\(cached\)))`)

func (o *output) Write(p []byte) (int, error) {
	o.bytes += len(p)
	o.line = append(o.line, p...)
	for {
		line, rest, whole := bytes.Cut(o.line, []byte("\n"))
		if !whole {
			break
		}
		o.line = rest
		if m := tested.FindSubmatch(line); m != nil {
			f := figure{pkg: string(m[2]), result: strings.TrimSpace(string(m[1]))}
			f.wall, _ = time.ParseDuration(string(m[3])) // digits, or cached
			if len(m[4]) > 0 {
				f.result = "cached"
			}
			o.packages = append(o.packages, f)
		}
		o.pass(append(line[:len(line):len(line)], '\n'))
	}
	return len(p), o.err
}

// end passes on a last line that does not end.
func (o *output) end() {
	if len(o.line) > 0 {
		o.pass(o.line)
	}
}

func (o *output) pass(line []byte) {
	if _, err := o.to.Write(line); o.err == nil {
		o.err = err
	}
}

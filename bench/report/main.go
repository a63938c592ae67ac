package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
)

func main() {
	log.SetFlags(log.Ltime)
	quick := flag.Bool("quick", false, "small sizes, into a temporary directory")
	render := flag.Bool("render", false, "measure nothing: write the document from the raw data that is there")
	var all []string
	for _, p := range parts {
		all = append(all, p.name)
	}
	only := flag.String("only", strings.Join(all, ","), "which parts are measured")
	rounds := flag.Int("rounds", 0, "how often each job of tasks is done, 0: as often as bench/peers says")
	patience := flag.Duration("patience", 5*time.Minute, "how long each part waits for a quiet machine")
	docs := flag.String("docs", filepath.Join("docs", "explanation"), "where benchmarks.md and benchmarks/ are")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := options{*quick, *render, strings.Split(*only, ","), *rounds, *patience}
	if err := report(ctx, o, *docs); err != nil {
		log.Fatal(err)
	}
}

type options struct {
	quick, render bool
	only          []string
	rounds        int
	patience      time.Duration
}

func report(ctx context.Context, o options, docs string) error {
	if o.quick && !o.render {
		dir, err := os.MkdirTemp("", "benchmarks")
		if err != nil {
			return err
		}
		docs = dir
	}
	raw, err := filepath.Abs(filepath.Join(docs, "benchmarks"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(raw, 0o755); err != nil {
		return err
	}
	var faults []error // of parts: what the others have measured is written all the same
	if !o.render {
		for _, p := range parts {
			if !slices.Contains(o.only, p.name) {
				continue
			}
			if !o.quick {
				quiet(ctx, p.name, o.patience)
			}
			log.Printf("%s: begins", p.name)
			began := time.Now()
			// Where it was measured belongs to what was measured: a part that is measured again may
			// be on another machine.
			if err := os.WriteFile(filepath.Join(raw, p.name+".txt"), []byte(describe(o.quick)+"\n"), 0o644); err != nil {
				return err
			}
			if err := p.measure(ctx, o, filepath.Join(raw, p.name+".csv")); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", p.name, err))
			}
			log.Printf("%s: took %v", p.name, time.Since(began).Round(time.Second))
		}
	}
	faults = append(faults, document(docs))
	if !o.quick {
		faults = append(faults, writeReadme("README.md", docs))
	}
	return errors.Join(faults...)
}

// part is one source of raw data.
type part struct {
	name    string
	measure func(ctx context.Context, o options, out string) error
}

var parts = []part{
	{"bench", goBenchmarks},
	{"elections", compare("elections")},
	{"synced", compare("synced")},
	{"tasks", compare("tasks")},
	{"reruns", compare("reruns")},
	{"scale", growth("members,patient,workers,roles")},
	{"backlog", growth("tasks")},
}

func goBenchmarks(ctx context.Context, o options, out string) error {
	sheet, err := figures.Create(out)
	if err != nil {
		return err
	}
	suites := [][]string{
		{
			"-bench", ".", "-skip", "Tasks$|TaskLatency", "./bench", "./internal/protocol/...", "./internal/natskv",
			"./fencing",
		},
		{"-bench", "Tasks$", "-count", "7", "-benchtime", "5s", "./bench"}, // long enough that most of it is warm
		{"-bench", "TaskLatency", "-count", "7", "./bench"},
	}
	if o.quick { // one of each sort: the campaigns among them are what they are
		suites = [][]string{{"-bench", "IsLeader|GuardAdmit|TaskLatency", "-benchtime", "20x", "./bench"}}
	}
	var said bytes.Buffer
	for _, args := range suites {
		err = errors.Join(err, run(ctx, "", io.MultiWriter(os.Stderr, &said), "go",
			append([]string{"test", "-tags", "realtime", "-run", "^$", "-timeout", "60m"}, args...)...))
	}
	return errors.Join(err, benchmarks(&said, sheet.Add), sheet.Close())
}

// compare puts the peers through one group of jobs.
func compare(group string) func(ctx context.Context, o options, out string) error {
	return func(ctx context.Context, o options, out string) error {
		return command(ctx, filepath.Join("bench", "peers"), ".", "-jobs", group, "-out", out, fmt.Sprint("-quick=", o.quick),
			fmt.Sprint("-rounds=", o.rounds))
	}
}

// growth measures some of the quantities that grow.
func growth(axes string) func(ctx context.Context, o options, out string) error {
	return func(ctx context.Context, o options, out string) error {
		return command(ctx, "", "./bench/scale", "-axes", axes, "-out", out, fmt.Sprint("-quick=", o.quick))
	}
}

// command builds a command of the repository and runs it: "go run" does not pass an interrupt on,
// and it is the command that ends the servers.
func command(ctx context.Context, dir, pkg string, args ...string) error {
	built, err := os.MkdirTemp("", "benchmarks-built")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(built) }() // a temporary directory
	program := filepath.Join(built, "command")
	if err := run(ctx, dir, os.Stderr, "go", "build", "-o", program, pkg); err != nil {
		return err
	}
	return run(ctx, dir, os.Stderr, program, args...)
}

// run runs a program in a directory of the repository, whose root this program is started in.
func run(ctx context.Context, dir string, out io.Writer, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, os.Stderr
	// It is asked to end, and ends what it has started.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	return cmd.Run()
}

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	of := flag.String("of", "elections", "what to play: elections, tasks")
	length := flag.Duration("for", 10*time.Minute, "how long; the range that is being played is finished")
	schedules := flag.Int("range", 15_000, "how many schedules of each range")
	path := flag.String("file", "propertytests/longrun.csv", "the file, from the root of the module")
	sum := flag.Bool("sum", false, "only say what the file comes to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	run := func() error { return play(ctx, *of, *path, *schedules, *length) }
	if *sum {
		run = func() error { return summed(*path) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play(ctx context.Context, of, path string, schedules int, length time.Duration) error {
	k, err := kindOf(of)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "longrun-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "play.test")
	if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-o", binary, k.pkg).CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", k.pkg, err, out)
	}
	for end := time.Now().Add(length); time.Now().Before(end) && ctx.Err() == nil; {
		lines, err := table(path).Read()
		if err != nil {
			return err
		}
		first := next(lines, k.name)
		args := append([]string{"-test.v", "-test.timeout=0"}, k.args(first, schedules)...)
		cmd := exec.CommandContext(ctx, binary, args...)
		cmd.Dir = dir
		out, failed := cmd.CombinedOutput()
		if ctx.Err() != nil {
			break // what was played of this range does not count
		}
		l, err := k.read(first, schedules, string(out), failed != nil)
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
		}
		if err := table(path).Add(l); err != nil {
			return err
		}
		fmt.Println(l)
		if failed != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), failed, out)
		}
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	of := flag.String("of", "elections", "what to play: elections, losses, tasks, storms, taskstorms")
	length := flag.Duration("for", 10*time.Minute, "how long; the range that is being played is finished")
	schedules := flag.Int("range", 0, "how many schedules of each range, or virtual hours of storms; 0: 15,000, and 200 or 16 of tasks")
	path := flag.String("file", "propertytests/campaign/schedules.csv", "the file, from the root of the module")
	sum := flag.Bool("sum", false, "only say what the file comes to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := func() error { return play(ctx, *of, *path, *schedules, *length) }
	if *sum {
		run = func() error { return summed(os.Stdout, *path) }
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
	dir, err := os.MkdirTemp("", "schedules-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := player{kind: k, dir: dir, path: path, schedules: cmp.Or(schedules, k.usual)}
	if err := p.build(ctx); err != nil {
		return err
	}
	for end := time.Now().Add(length); time.Now().Before(end) && ctx.Err() == nil; {
		if err := p.next(ctx); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

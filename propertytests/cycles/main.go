package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	of := flag.String("of", "", "only the tests whose name matches")
	cycles := flag.Int("cycles", 50, "how many cycles of each test the file shall have, of the product as it is")
	part := flag.Int("part", 10, "how many of them make a line of the file")
	path := flag.String("file", "propertytests/cycles.csv", "the file, from the root of the module")
	sum := flag.Bool("sum", false, "only say what the file comes to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	run := func() error { return play(ctx, *of, *path, *cycles, *part) }
	if *sum {
		run = func() error { return summed(ctx, os.Stdout, *of, *path) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// play goes on until the file has so many cycles of each test.
func play(ctx context.Context, of, path string, cycles, part int) error {
	if cycles < 1 || part < 1 {
		return errors.New("cycles: -cycles and -part are 1 at least")
	}
	all, err := matching(of)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "cycles-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := player{dir: dir, path: path}
	if err := p.build(ctx); err != nil {
		return err
	}
	for _, t := range all {
		for ctx.Err() == nil {
			lines, err := table(path).Read()
			if err != nil {
				return err
			}
			s, err := total(lines, t.name, p.present[t.about].mark)
			if err != nil {
				return err
			}
			if s.cycles >= cycles {
				break
			}
			if err := p.next(ctx, t, s.cycles, min(cycles-s.cycles, part)); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
	return nil
}

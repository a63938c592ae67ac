package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	path := flag.String("file", "check.csv", "the file that keeps the seconds; if empty, nothing is kept")
	warn := flag.Duration("warn", 720*time.Second, "a longer run is warned of")
	most := flag.Duration("most", 1800*time.Second, "a longer run fails")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := check(ctx, os.Stdout, flag.Args(), *path, *warn, *most); err != nil {
		fmt.Fprintln(os.Stderr, "check:", err)
		os.Exit(1)
	}
}

// check runs the named stages, or all of them, and reports and keeps how long they took.
func check(ctx context.Context, w io.Writer, names []string, path string, warn, most time.Duration) error {
	wanted, err := named(names)
	if err != nil {
		return err
	}
	began := time.Now()
	figures, err := runAll(ctx, w, wanted, most)
	total := time.Since(began)
	summarize(w, figures, total)
	if total > warn {
		fmt.Fprintf(w, "warning: %.0f s are more than %.0f s\n", total.Seconds(), warn.Seconds())
	}
	return errors.Join(err, keep(path, commit(ctx), began, figures))
}

// runAll runs stages until one fails, or until they have taken too long.
func runAll(ctx context.Context, w io.Writer, wanted []stage, most time.Duration) (figures []figure, err error) {
	began, lines := time.Now(), &wholeLines{to: w}
	of := make([][]figure, len(wanted))
	beside, unlessOneFails := errgroup.WithContext(ctx)
	run := func(i int, to io.Writer) (err error) {
		s := wanted[i]
		fmt.Fprintf(lines, "== %s\n", s.name)
		of[i], err = s.run(unlessOneFails, to)
		if total := time.Since(began); err == nil && total > most {
			err = fmt.Errorf("%.0f s are more than %.0f s", total.Seconds(), most.Seconds())
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.name, err)
		}
		return err
	}
	beside.Go(func() (err error) {
		for i, s := range wanted {
			switch {
			case err != nil || unlessOneFails.Err() != nil:
			case s.waits:
				beside.Go(func() error { return run(i, &prefixed{lines, s.name + ": "}) })
			default:
				err = run(i, lines)
			}
		}
		return err
	})
	err = beside.Wait()
	return slices.Concat(of...), err
}

// named returns the stages with these names, in the order of all stages.
func named(names []string) ([]stage, error) {
	if len(names) == 0 {
		return stages, nil
	}
	for _, name := range names {
		if !slices.ContainsFunc(stages, func(s stage) bool { return s.name == name }) {
			return nil, fmt.Errorf("there is no stage %q", name)
		}
	}
	return slices.DeleteFunc(slices.Clone(stages), func(s stage) bool { return !slices.Contains(names, s.name) }), nil
}

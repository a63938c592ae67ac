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

// check runs the named stages, or without names all whose turn it is, and reports and keeps how
// long they took.
func check(ctx context.Context, w io.Writer, names []string, path string, warn, most time.Duration) error {
	wanted, err := named(names)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		wanted = inTurn(ctx, wanted)
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

// runAll runs each stage when those have ended that it comes after, until one fails, or until they
// have taken too long.
func runAll(ctx context.Context, w io.Writer, wanted []stage, most time.Duration) (figures []figure, err error) {
	began, turns := time.Now(), newTurns(w, len(wanted))
	of, ended := make([][]figure, len(wanted)), map[string]chan struct{}{}
	for _, s := range wanted {
		ended[s.name] = make(chan struct{})
	}
	running, unlessOneFails := errgroup.WithContext(ctx)
	for i, s := range wanted {
		running.Go(func() (err error) {
			for _, name := range before(s, wanted) {
				select {
				case <-ended[name]:
				case <-unlessOneFails.Done():
					return unlessOneFails.Err()
				}
			}
			fmt.Fprintf(turns.of(i), "== %s\n", s.name)
			of[i], err = s.run(unlessOneFails, turns.of(i))
			if total := time.Since(began); err == nil && total > most {
				err = fmt.Errorf("%.0f s are more than %.0f s", total.Seconds(), most.Seconds())
			}
			turns.end(i, err)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			close(ended[s.name])
			return nil
		})
	}
	err = running.Wait()
	return slices.Concat(of...), err
}

// before are the wanted stages that must have ended before a stage begins. One that is not wanted
// stands for those before it.
func before(s stage, wanted []stage) (names []string) {
	for _, name := range s.after {
		if slices.ContainsFunc(wanted, func(w stage) bool { return w.name == name }) {
			names = append(names, name)
			continue
		}
		if i := slices.IndexFunc(stages, func(s stage) bool { return s.name == name }); i >= 0 {
			names = append(names, before(stages[i], wanted)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
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

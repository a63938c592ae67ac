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
	var figures []figure
	for _, s := range wanted {
		fmt.Fprintf(w, "== %s\n", s.name)
		var of []figure
		of, err = s.run(ctx, w)
		figures = append(figures, of...)
		if total := time.Since(began); err == nil && total > most {
			err = fmt.Errorf("%.0f s are more than %.0f s", total.Seconds(), most.Seconds())
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.name, err)
			break
		}
	}
	total := time.Since(began)
	summarize(w, figures, total)
	if total > warn {
		fmt.Fprintf(w, "warning: %.0f s are more than %.0f s\n", total.Seconds(), warn.Seconds())
	}
	return errors.Join(err, keep(path, commit(ctx), began, figures))
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

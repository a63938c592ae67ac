//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/proc"
)

// axis is one quantity that grows while the others stand still.
type axis struct {
	name string
	do   func(ctx context.Context, r *run) error
}

// axes in the order in which they run.
var axes = []axis{{"members", members}, {"patient", patient}, {"workers", workers}, {"roles", roles}, {"tasks", tasks}}

func main() {
	proc.Serve(map[string]proc.Kind{serverKind: serveServer, hostKind: serveHost})
	log.SetFlags(log.Ltime)
	quick := flag.Bool("quick", false, "small sizes: to see that everything works")
	only := flag.String("axes", "", "only these axes, separated by commas")
	out := flag.String("out", "scale.csv", "the file of rows")
	profiles := flag.String("cpuprofile", "", "a folder: there tasks writes a profile of each process that runs them")
	sizes := flag.String("sizes", "", "only these sizes of each axis, separated by commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, &run{quick: *quick, sizes: *sizes, profiles: *profiles}, *only, *out); err != nil {
		log.Fatal(err)
	}
}

func measure(ctx context.Context, r *run, only, out string) error {
	var chosen []string
	if only != "" {
		chosen = strings.Split(only, ",")
	}
	for _, name := range chosen {
		if !slices.ContainsFunc(axes, func(a axis) bool { return a.name == name }) {
			return fmt.Errorf("no axis %q", name)
		}
	}
	sheet, err := figures.Create(out)
	if err != nil {
		return err
	}
	defer func() { _ = sheet.Close() }() // every row is in it
	r.sheet = sheet
	var faults []error // of axes: the others are measured all the same
	for _, a := range axes {
		if chosen != nil && !slices.Contains(chosen, a.name) {
			continue
		}
		if err := a.do(ctx, r); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", a.name, err))
		}
	}
	return errors.Join(faults...)
}

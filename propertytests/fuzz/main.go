// Command fuzz runs every fuzz target of the module for a while each, and says how many executions each of them had.
//
//	go run ./propertytests/fuzz -time 10s
//
// It finds them in the source, so that a new one is not forgotten. Several run at a time, each on one processor; what is found
// on the way is kept in the build cache as `go test -fuzz` keeps it, and goes on from there the next time. An input that fails
// is written into the package's testdata, from where every `go test` runs it.
//
// Files: main.go, targets.go (which there are), run.go (one of them).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	each := flag.Duration("time", 10*time.Second, "how long each target runs")
	only := flag.String("run", "", "only those whose name matches, as package.Name")
	parallel := flag.Int("parallel", runtime.NumCPU(), "how many run at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := fuzz(ctx, *only, *each, *parallel); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func fuzz(ctx context.Context, only string, each time.Duration, parallel int) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("-run: %w", err)
	}
	all, err := targets(ctx, wanted)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return errors.New("fuzz: there is no such target")
	}
	dir, err := os.MkdirTemp("", "fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	binaries, err := build(ctx, dir, all)
	if err != nil {
		return err
	}
	fmt.Printf("%d targets, built in %v; each runs for %v\n", len(all), time.Since(began).Round(time.Second), each)
	results := make([]result, len(all))
	var running errgroup.Group
	running.SetLimit(parallel)
	for i, t := range all {
		running.Go(func() error {
			results[i] = t.run(ctx, binaries[t.pkg.Dir], each)
			if results[i].err == nil {
				return nil
			}
			return fmt.Errorf("%s: %w\n%s", t, results[i].err, results[i].said)
		})
	}
	err = running.Wait()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	executions := 0
	for i, t := range all {
		executions += results[i].executions
		fmt.Fprintf(table, "%s\t%d executions\t%v\n", t, results[i].executions, results[i].verdict())
	}
	_ = table.Flush()
	fmt.Printf("%d executions of %d targets in %v\n", executions, len(all), time.Since(began).Round(time.Second))
	return err
}

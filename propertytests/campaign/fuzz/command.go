package fuzz

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"
)

// Main is the subcommand fuzz.
func Main(ctx context.Context, args []string) error {
	var p plan
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	flags.DurationVar(&p.each, "time", 10*time.Second, "how long each target runs")
	flags.DurationVar(&p.longer, "changed", 20*time.Second,
		"with -commits: how long a target runs whose package has changed")
	flags.IntVar(&p.commits, "commits", 0, "a package has changed if one of the last so many commits changed it")
	flags.DurationVar(&p.most, "most", 0,
		"with -commits: how long all targets run together at most, unless -time alone takes longer; 0 means no limit")
	flags.StringVar(&p.seed, "seed", "",
		"a text, such as the hash of the commit, that draws a tenth of the packages that have not changed; if empty, all run")
	only := flags.String("run", "", "only those whose name matches, as package.Name")
	parallel := flags.Int("parallel", runtime.NumCPU(), "how many run at a time")
	execs := flags.Int("execs", 0, "how many executions of each target the file shall have, instead of -time")
	present := flags.Bool("present", false, "with -execs: count only executions of the present sources")
	part := flags.Int("part", 500_000, "with -execs: how many of them make a line of the file")
	path := flags.String("file", "propertytests/campaign/fuzz.csv",
		"with -execs and -sum: the file, from the root of the module")
	sum := flags.Bool("sum", false, "only say what the file comes to")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *sum {
		return summed(ctx, os.Stdout, *path)
	}
	if *execs > 0 {
		return long(ctx, *only, *path, *execs, *part, *parallel, *present)
	}
	return short(ctx, *only, p, *parallel)
}

// short gives every target that is drawn its time.
func short(ctx context.Context, only string, p plan, parallel int) error {
	dir, err := os.MkdirTemp("", "fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	began := time.Now()
	all, err := matching(ctx, only)
	if err != nil {
		return err
	}
	var dirs map[string]bool
	if p.commits > 0 {
		if dirs, err = changed(ctx, all[0].root(), p.commits); err != nil {
			fmt.Fprintln(os.Stderr, "fuzz: no target is known to have changed:", err)
		}
	}
	there := len(all)
	all = p.drawn(all, dirs)
	instrumented := []string{own, decoder}
	if p.seed != "" { // a few seconds of each find no new way through the decoder
		instrumented = []string{own}
	}
	binaries, err := build(ctx, dir, all, parallel, instrumented...)
	if err != nil {
		return err
	}
	times := p.times(all, dirs, parallel)
	fmt.Printf("%d of %d targets, built in %v; each runs for %v to %v\n", len(all), there,
		time.Since(began).Round(time.Second), slices.Min(times), slices.Max(times).Round(time.Millisecond))
	results := make([]outcome, len(all))
	var running errgroup.Group
	running.SetLimit(parallel)
	for i, t := range all {
		running.Go(func() error {
			results[i] = t.run(ctx, binaries[t.pkg.Dir], times[i])
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
		fmt.Fprintf(table, "%s\t%v\t%d executions\t%v\n", t, times[i].Round(time.Millisecond), results[i].executions,
			results[i].verdict())
	}
	_ = table.Flush()
	fmt.Printf("%d executions of %d targets in %v\n", executions, len(all), time.Since(began).Round(time.Second))
	return err
}

// matching are the targets whose names match.
func matching(ctx context.Context, only string) (all []target, err error) {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return nil, fmt.Errorf("-run: %w", err)
	}
	if all, err = targets(ctx, wanted); err == nil && len(all) == 0 {
		err = errors.New("fuzz: there is no such target")
	}
	return all, err
}

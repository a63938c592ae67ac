package main

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// module is the path of this module, with which the names of its packages begin.
const module = "github.com/rolemanager/rolemanager"

// figure is how long something took: a package within a stage or, without a package, the whole
// stage.
type figure struct {
	stage, pkg string
	wall, cpu  time.Duration // cpu: of a stage only
	result     string        // ok, FAIL or cached
}

// summarize writes two tables: the stages, and the packages with a column for each stage that
// tested packages.
func summarize(w io.Writer, figures []figure, total time.Duration) {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "\nstage\tseconds\tCPU seconds\tresult\t\n")
	var cpu time.Duration
	var columns []string
	seconds := map[string]map[string]time.Duration{} // by package and stage
	for _, f := range figures {
		if f.pkg == "" {
			cpu += f.cpu
			fmt.Fprintf(table, "%s\t%.1f\t%.1f\t%s\t\n", f.stage, f.wall.Seconds(), f.cpu.Seconds(), f.result)
			continue
		}
		if !slices.Contains(columns, f.stage) {
			columns = append(columns, f.stage)
		}
		if seconds[f.pkg] == nil {
			seconds[f.pkg] = map[string]time.Duration{}
		}
		seconds[f.pkg][f.stage] += f.wall
	}
	fmt.Fprintf(table, "all\t%.1f\t%.1f\t\t\n", total.Seconds(), cpu.Seconds())
	_ = table.Flush()
	if len(columns) == 0 {
		return
	}
	fmt.Fprintf(table, "\npackage\t%s\tseconds\t\n", strings.Join(columns, "\t"))
	for _, p := range slowestFirst(seconds) {
		name := cmp.Or(strings.TrimPrefix(strings.TrimPrefix(p, module), "/"), ".")
		fmt.Fprintf(table, "%s\t", name)
		for _, c := range columns {
			if took, ran := seconds[p][c]; ran {
				fmt.Fprintf(table, "%.1f", took.Seconds())
			}
			fmt.Fprint(table, "\t")
		}
		fmt.Fprintf(table, "%.1f\t\n", sum(seconds[p]).Seconds())
	}
	_ = table.Flush()
}

func slowestFirst(seconds map[string]map[string]time.Duration) (packages []string) {
	for p := range seconds {
		packages = append(packages, p)
	}
	slices.SortFunc(packages, func(a, b string) int {
		return cmp.Or(cmp.Compare(sum(seconds[b]), sum(seconds[a])), cmp.Compare(a, b))
	})
	return packages
}

func sum(of map[string]time.Duration) (all time.Duration) {
	for _, d := range of {
		all += d
	}
	return all
}

// keep appends the figures to a file, which gets a head when it is new.
func keep(path, commit string, began time.Time, figures []figure) (err error) {
	if path == "" {
		return nil
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	var lines [][]string
	if info.Size() == 0 {
		lines = append(lines, []string{"began", "commit", "stage", "package", "seconds", "cpu_seconds", "result"})
	}
	for _, f := range figures {
		cpu := ""
		if f.pkg == "" {
			cpu = fmt.Sprintf("%.3f", f.cpu.Seconds())
		}
		lines = append(lines, []string{
			began.UTC().Format(time.RFC3339), commit, f.stage, f.pkg, fmt.Sprintf("%.3f", f.wall.Seconds()), cpu, f.result,
		})
	}
	return csv.NewWriter(file).WriteAll(lines)
}

// unknown stands for the commit outside a repository.
const unknown = "none"

// commit is the commit that is checked.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return unknown
	}
	return strings.TrimSpace(string(out))
}

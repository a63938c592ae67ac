package fuzz

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path"
	"time"
)

// changed are the directories, from the root of the module, with a Go file that the last commits
// have changed, or that differs from the last commit. Of a repository with fewer commits all count
// but the first, and of no repository none.
func changed(ctx context.Context, root string, commits int) (map[string]bool, error) {
	git := func(args ...string) ([]string, error) {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...).Output()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w", args[0], err)
		}
		var lines []string
		for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
			lines = append(lines, s.Text())
		}
		return lines, nil
	}
	last, err := git("rev-list", "--first-parent", fmt.Sprint("--max-count=", commits+1), "HEAD")
	if err != nil {
		return nil, err
	}
	differ, err := git("diff", "--name-only", "--relative", last[len(last)-1], "--", "*.go")
	if err != nil {
		return nil, err
	}
	added, err := git("ls-files", "--others", "--exclude-standard", "--", "*.go")
	if err != nil {
		return nil, err
	}
	dirs := map[string]bool{}
	for _, file := range append(differ, added...) {
		dirs[path.Dir(file)] = true
	}
	return dirs, nil
}

// plan is how long each target runs.
type plan struct {
	each    time.Duration // a target at least
	longer  time.Duration // one whose package has changed
	commits int           // within so many commits
	most    time.Duration // all of them, if each gets its time then: the longer ones share what is left; 0 is no limit
}

// times are those of the targets, of which some are of packages that have changed.
func (p plan) times(all []target, changed map[string]bool, parallel int) []time.Duration {
	times := make([]time.Duration, len(all))
	var longer []int
	for i, t := range all {
		times[i] = p.each
		if changed[t.dir()] {
			longer = append(longer, i)
		}
	}
	if len(longer) == 0 {
		return times
	}
	extra := p.longer - p.each
	if left := p.most*time.Duration(parallel) - p.each*time.Duration(len(all)); p.most > 0 {
		extra = min(extra, left/time.Duration(len(longer)))
	}
	for _, i := range longer {
		times[i] += max(extra, 0)
	}
	return times
}

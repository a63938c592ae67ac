package fuzz

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough/draw"
)

// changed are the directories, from the root of the module, whose decoders may have changed: with a
// Go file that the last commits have changed, or that differs from the last commit. Files of tests
// count only if they have a target. Of a repository with fewer commits all count but the first, and
// of no repository none.
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
		if strings.HasSuffix(file, "_test.go") && !hasTarget(filepath.Join(root, file)) {
			continue
		}
		dirs[path.Dir(file)] = true
	}
	return dirs, nil
}

// hasTarget reports whether a file is there and has a target.
func hasTarget(file string) bool {
	names, err := inFile(file)
	return err == nil && len(names) > 0
}

// plan is which targets run, and how long.
type plan struct {
	seed    string        // by which some packages that have not changed are drawn; empty: all run
	each    time.Duration // a target at least
	longer  time.Duration // one whose package has changed
	commits int           // within so many commits
	most    time.Duration // all of them, if each gets its time then: the longer ones share what is left; 0 means no limit
}

// oneOf is of how many targets whose packages have not changed one is drawn. With one seed of
// serverTurns these have the server in their tests, and with the others they have not.
const (
	oneOf       = 10
	serverTurns = 3
)

// drawn are the targets of the packages that have changed, and one in ten of the others. Which ones
// follows from the seed: always the same for one seed, and any with another. They are of as few
// packages as would do: to build one for fuzzing takes as long as its targets run.
func (p plan) drawn(all []target, changed map[string]bool) (some []target) {
	if p.seed == "" {
		return all
	}
	place := func(t target) []byte {
		dir, name := sha256.Sum256([]byte(p.seed+"\n"+t.dir())), sha256.Sum256([]byte(p.seed+"\n"+t.String()))
		return append(dir[:], name[:]...)
	}
	serving := draw.Turn(p.seed, serverTurns) == 0
	var others []target
	n := 0
	for _, t := range all {
		if changed[t.dir()] {
			some = append(some, t)
			continue
		}
		if n++; t.pkg.server() == serving {
			others = append(others, t)
		}
	}
	slices.SortFunc(others, func(a, b target) int { return bytes.Compare(place(a), place(b)) })
	return append(some, others[:min(len(others), (n+oneOf-1)/oneOf)]...)
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

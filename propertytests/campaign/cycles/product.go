package cycles

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/rolemanager/rolemanager/propertytests/campaign/sources"
	"github.com/rolemanager/rolemanager/propertytests/campaign/testbinary"
)

// product is one state of the product.
type product struct {
	mark   string // of its Go files
	commit string // the one that is checked out
}

// products are those of all subjects, as they are.
func products(ctx context.Context) (map[subject]product, error) {
	all := map[subject]product{}
	for _, about := range []subject{elections, tasks} {
		dirs, err := about.dirs(ctx)
		if err != nil {
			return nil, err
		}
		files, err := sources.In(os.DirFS("."), dirs...)
		if err != nil {
			return nil, err
		}
		mark, err := sources.Mark(os.DirFS("."), files)
		if err != nil {
			return nil, err
		}
		all[about] = product{mark, commitOf(ctx, dirs)}
	}
	return all, nil
}

// dirs are the directories of a subject's packages and of all that they import here, from the root
// of the module.
func (s subject) dirs(ctx context.Context) (dirs []string, err error) {
	args := []string{"list", "-deps"}
	for pkg := range strings.FieldsSeq(string(s)) {
		args = append(args, testbinary.Module+pkg)
	}
	out, err := said(ctx, "go", args...)
	if err != nil {
		return nil, err
	}
	for pkg := range strings.FieldsSeq(out) {
		if dir, is := strings.CutPrefix(pkg, testbinary.Module); is {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// commitOf is the commit of the working tree, with + when the directories are not as they are
// there; "unknown" outside of a repository, where the mark alone says what was played.
func commitOf(ctx context.Context, dirs []string) string {
	commit, err := said(ctx, "git", "rev-parse", "--short=9", "HEAD")
	if err != nil {
		return "unknown"
	}
	changed, err := said(ctx, "git", append([]string{"--no-optional-locks", "status", "--porcelain", "--"}, dirs...)...)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(changed) {
		if name := strings.TrimSpace(line); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			return commit + "+"
		}
	}
	return commit
}

// said is what a program writes.
func said(ctx context.Context, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}

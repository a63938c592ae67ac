package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// pkg is a package as go list shows it.
type pkg struct {
	Dir, ImportPath                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
}

// tests are the files of its tests.
func (p pkg) tests() []string {
	return append(p.TestGoFiles[:len(p.TestGoFiles):len(p.TestGoFiles)], p.XTestGoFiles...)
}

// files are all of its files that are compiled.
func (p pkg) files() []string { return append(p.tests(), p.GoFiles...) }

// listed are the answers of go list, by directory and tags: it takes a second, and each answer is
// asked for several times.
var listed sync.Map

// list returns the packages of the module in a directory, as they are compiled with some tags. The
// process asks once: it takes the files of a directory for what they were at first.
func list(ctx context.Context, dir, tags string) ([]pkg, error) {
	at, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	question := [2]string{at, tags}
	if all, is := listed.Load(question); is {
		return slices.Clone(all.([]pkg)), nil
	}
	all, err := ask(ctx, at, tags)
	if err == nil {
		listed.Store(question, slices.Clone(all))
	}
	return all, err
}

func ask(ctx context.Context, dir, tags string) (all []pkg, err error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-tags", tags,
		"-json=Dir,ImportPath,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list in %s: %w", dir, err)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the answer of go list: %w", err)
		}
		all = append(all, p)
	}
}

// goEnv is what the go command uses for one of its variables.
func goEnv(ctx context.Context, name string) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", name).Output()
	if err != nil {
		return "", fmt.Errorf("go env %s: %w", name, err)
	}
	return strings.TrimSpace(string(out)), nil
}

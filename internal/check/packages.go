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

// list returns the packages of the module in a directory, as they are compiled with some tags.
func list(ctx context.Context, dir, tags string) (all []pkg, err error) {
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

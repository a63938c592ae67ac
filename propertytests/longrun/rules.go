package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// rulesOf is a mark of the Go files in some directories, without their tests: lines with the same one are of the same rules.
func rulesOf(module fs.FS, dirs []string) (string, error) {
	sum := sha256.New()
	for _, dir := range dirs {
		files, err := fs.Glob(module, filepath.ToSlash(filepath.Join(dir, "*.go")))
		if err != nil {
			return "", err
		}
		if len(files) == 0 {
			return "", fmt.Errorf("no Go files in %s: run it from the root of the module", dir)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			text, err := fs.ReadFile(module, file)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(sum, "%q %q\n", file, text)
		}
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:4]), nil
}

// present is the mark of what a kind plays as it is now.
func (k kind) present() (string, error) { return rulesOf(os.DirFS("."), k.rules) }

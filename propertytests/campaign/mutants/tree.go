package mutants

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// tree is the texts of Go files, by their paths from the root of the module.
type tree map[string]string

// below reads the Go files in some folders of a module and in all folders below these: the tests,
// or all the others. A folder may be missing, since a list of folders may name where a package was
// and where it will be. One of them has to be there.
func below(root string, folders []string, tests bool) (tree, error) {
	found, there := tree{}, false
	for _, folder := range folders {
		top := filepath.Join(root, filepath.FromSlash(folder))
		if _, err := os.Stat(top); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		there = true
		err := filepath.WalkDir(top, func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && name != top && apart(name):
				return filepath.SkipDir
			case d.IsDir(), !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go") != tests:
				return nil
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, name)
			found[filepath.ToSlash(rel)] = string(text)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if !there {
		return nil, fmt.Errorf("none of the folders %q is there", folders)
	}
	return found, nil
}

// testTrees are the test files below some folders of one module, each of which is read once. Nil
// keeps none.
type testTrees map[string]tree

func (known testTrees) below(root string, folders []string) (tree, error) {
	key := strings.Join(folders, "\n")
	if found := known[key]; found != nil {
		return found, nil
	}
	found, err := below(root, folders, true)
	if err == nil && known != nil {
		known[key] = found
	}
	return found, err
}

// apart reports whether the go command leaves a folder out, or has it in another module.
func apart(folder string) bool {
	base := filepath.Base(folder)
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

// holding is the one file that holds a text, which it holds once.
func (t tree) holding(text string) (string, error) {
	var in []string
	for _, file := range slices.Sorted(maps.Keys(t)) {
		in = append(in, slices.Repeat([]string{file}, strings.Count(t[file], text))...)
	}
	switch len(in) {
	case 0:
		return "", errors.New("no file holds the text")
	case 1:
		return in[0], nil
	default:
		return "", fmt.Errorf("the text is not unique, lengthen it: it is in %s", strings.Join(in, ", "))
	}
}

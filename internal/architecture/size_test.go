package architecture

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The sizes at which a reader still finds the way.
const (
	mostFiles = 32  // in a folder, without tests
	mostLines = 400 // in a file, without tests
	median    = 110 // lines of half of the files, without tests
)

// TestSizes: no folder has more than 32 Go files beside its tests, and none of these is longer than
// 400 lines. Half of them have 110 lines or fewer.
func TestSizes(t *testing.T) {
	files := map[string]int{}
	var lines []int
	for _, source := range sources(t) {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		files[path.Dir(filepath.ToSlash(source))]++
		n := strings.Count(read(t, source), "\n")
		lines = append(lines, n)
		if n > mostLines {
			t.Errorf("%s has %d lines, at most %d are allowed: give a part of it a file of its own", source, n, mostLines)
		}
	}
	slices.Sort(lines)
	if n := lines[len(lines)/2]; n > median {
		t.Errorf("the median file has %d lines, at most %d are allowed", n, median)
	}
	for folder, n := range files {
		if n > mostFiles {
			t.Errorf("%s has %d files, at most %d are allowed: give some of them a package of their own", folder, n, mostFiles)
		}
	}
}

package architecture

import (
	"strings"
	"testing"
)

// mostReadmeLines is how long README.md may be: it is read in one go.
const mostReadmeLines = 220

// TestReadmeIsShort: README.md is not longer than that.
func TestReadmeIsShort(t *testing.T) {
	if n := strings.Count(read(t, "README.md"), "\n"); n > mostReadmeLines {
		t.Errorf("README.md has %d lines, at most %d are allowed: move a part of it to docs", n, mostReadmeLines)
	}
}

// TestTracedChange: ARCHITECTURE.md follows one change through the code, and names each document
// that has the constant.
func TestTracedChange(t *testing.T) {
	const constant, page = "32 times", "ARCHITECTURE.md"
	_, traced, found := strings.Cut(read(t, page), "\n### One change, traced\n")
	if !found {
		t.Fatal(page + " traces no change")
	}
	traced, _, _ = strings.Cut(traced, "\n## ")
	if want := "Three documents name it:"; !strings.Contains(traced, want) {
		t.Errorf("%s does not say %q", page, want)
	}
	n := 0
	for _, path := range documents(t) {
		if !strings.HasPrefix(path, "docs/") || !strings.Contains(read(t, path), constant) {
			continue
		}
		n++
		if !strings.Contains(traced, "]("+path+")") {
			t.Errorf("%s says %q too, and %s does not name it", path, constant, page)
		}
	}
	if n != 3 {
		t.Errorf("%d documents say %q, and %s says three", n, constant, page)
	}
}

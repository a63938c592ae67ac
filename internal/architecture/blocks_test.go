package architecture

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the blocks that documents quote again, from their sources")

// quoted is the line above a block that is quoted from a file: the whole file, or a part that
// region finds.
var quoted = regexp.MustCompile(`^<!-- from ([^\s#]+)(?:#(\S+))? -->$`)

// compiled are the languages that a document may only quote: their blocks have been compiled at
// their source.
var compiled = []string{"go", "sql"}

// TestDocumentedCode: every block of Go or SQL is quoted from a file that is compiled and tested.
// Every block with a line "<!-- from FILE#PART -->" above it has the present text of that file.
// After a change: go test ./internal/architecture -rewrite.
func TestDocumentedCode(t *testing.T) {
	n := 0
	for _, path := range documents(t) {
		old := read(t, path)
		now, blocks := quote(t, path, old)
		n += blocks
		if now != old && *rewrite {
			if err := os.WriteFile(filepath.Join(root, path), []byte(now), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n == 0 {
		t.Error("no block in any document")
	}
}

// quote returns a document with the present text of its quoted blocks, and the number of these
// blocks.
func quote(t *testing.T, path, text string) (now string, n int) {
	t.Helper()
	lines := strings.Split(text, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		out = append(out, lines[i])
		language, fenced := strings.CutPrefix(lines[i], "```")
		if !fenced {
			continue
		}
		end := i + 1
		for end < len(lines) && lines[end] != "```" {
			end++
		}
		if end == len(lines) {
			t.Fatalf("%s:%d: a block without an end", path, i+1)
		}
		block := lines[i+1 : end]
		var source []string
		if i > 0 {
			source = quoted.FindStringSubmatch(lines[i-1])
		}
		switch {
		case source != nil:
			n++
			block = current(t, path, i+1, block, source[1], source[2])
		case slices.Contains(compiled, language):
			t.Errorf("%s:%d: a block of %s without a line <!-- from FILE#PART --> above it: nobody compiles it", path, i+1,
				language)
		}
		out = append(append(out, block...), "```")
		i = end
	}
	return strings.Join(out, "\n"), n
}

// current is the present text of a block's source. A difference is an error, unless the block is
// rewritten.
func current(t *testing.T, path string, line int, block []string, file, part string) []string {
	t.Helper()
	now, err := region(file, read(t, file), part)
	if err != nil {
		t.Errorf("%s:%d: %v", path, line, err)
		return block
	}
	if was := strings.Join(block, "\n"); was != now && !*rewrite {
		t.Errorf("%s:%d: not what %s#%s says now (go test ./internal/architecture -rewrite):\n%s", path, line, file,
			part, now)
	}
	return strings.Split(now, "\n")
}

const root = "../.."

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// documents are the pages that people read. Pages in bench are templates of one of them.
func documents(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bench"):
			return filepath.SkipDir
		case filepath.Ext(path) == ".md":
			path, err = filepath.Rel(root, path)
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

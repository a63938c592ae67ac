package runlog

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// complaints is a test that is told of errors and continues.
type complaints struct {
	testing.TB
	n int
}

func (c *complaints) Helper()               {}
func (c *complaints) Errorf(string, ...any) { c.n++ }

// TestQuoted: a document passes that quotes all that the command says, and nothing else.
func TestQuoted(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "docs", "verification"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := "# What was run\n\n```console\n$ go run ./a -sum\none\ntwo\n```\n\n```console\n$ go run ./b -sum\nthree\n```\n"
	if err := os.WriteFile(filepath.Join(root, "docs", "verification", "runs.md"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command, says string
		want          int
	}{
		{"go run ./a -sum", "one\ntwo\n", 0},
		{"go run ./b -sum", "three\n", 0},
		{"go run ./a -sum", "one\n", 1},
		{"go run ./a -sum", "one\ntwo\nthree\n", 1},
		{"go run ./a", "one\ntwo\n", 1},
		{"go run ./c -sum", "", 1},
	} {
		said := complaints{TB: t}
		Quoted(&said, root, c.command, func(w io.Writer) error {
			_, err := io.WriteString(w, c.says)
			return err
		})
		if said.n != c.want {
			t.Errorf("%q says %q: %d complaints, want %d", c.command, c.says, said.n, c.want)
		}
	}
}

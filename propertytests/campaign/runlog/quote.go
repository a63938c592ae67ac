package runlog

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Quoted fails the test unless docs/verification/runs.md of the module whose root is given quotes
// what a command says about a file now, in a block that begins with the command.
func Quoted(t testing.TB, root, command string, tell func(io.Writer) error) {
	t.Helper()
	document, err := os.ReadFile(filepath.Join(root, "docs", "verification", "runs.md"))
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	if err := tell(&said); err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(document), "```console\n$ "+command+"\n")
	block, _, ends := strings.Cut(rest, "```\n")
	switch {
	case !found || !ends:
		t.Errorf("docs/verification/runs.md has no block that begins with %q", command)
	case block != said.String():
		t.Errorf("docs/verification/runs.md does not quote what %q says, which is now:\n%s", command, said.String())
	}
}

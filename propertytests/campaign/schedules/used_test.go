package schedules

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

// TestTheDocumentQuotesTheUses: so does what docs/verification/runs.md says of single rules.
func TestTheDocumentQuotesTheUses(t *testing.T) {
	all, err := useTable("../schedules.csv").Read()
	if err != nil {
		t.Fatal(err)
	}
	runlog.Quoted(t, "../../..", "go run ./propertytests/campaign schedules -rules",
		func(w io.Writer) error { return tellUses(w, all) })
}

// TestUsesAddUp: of two ranges of one mark, and of another one.
func TestUsesAddUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "schedules.csv")
	for _, c := range []struct {
		mark, said string
	}{
		{"a", "    rough_test.go:23: rules · 7 turns of fair keys in 3 · 0 batches in 0\n"},
		{"a", "    rough_test.go:23: rules · 1 turns of fair keys in 1 · 2 batches in 2\n"},
		{"b", "    rough_test.go:23: rules · 2 batches in 1\n--- FAIL\n"},
		{"b", "PASS\n"},
	} {
		if err := keepUses(path, &seedRange{what: "tasks", schedules: 10, rules: c.mark}, c.said); err != nil {
			t.Fatal(err)
		}
	}
	all, err := useTable(path).Read()
	if err != nil || len(all) != 3 || all[0] != (ruleUse{"tasks", "a", "turns of fair keys", 20, 8, 4}) {
		t.Fatalf("%v, %v", all, err)
	}
	var said strings.Builder
	if err := tellUses(&said, all); err != nil {
		t.Fatal(err)
	}
	const want = `played  rule                times  in schedules  of
tasks   turns of fair keys  8      4             20
tasks   batches             4      3             30
`
	if said.String() != want {
		t.Errorf("it tells\n%s, want\n%s", said.String(), want)
	}
}

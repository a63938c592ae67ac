package runlog_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rolemanager/rolemanager/propertytests/campaign/runlog"
)

type row struct {
	what  string
	seed  uint64
	count int
}

func (r *row) Cells() []any { return []any{&r.what, &r.seed, &r.count} }

func newTable(t *testing.T) runlog.Table[row, *row] {
	return runlog.Table[row, *row]{Path: filepath.Join(t.TempDir(), "t.csv"), Head: []string{"what", "seed", "count"}}
}

// TestTheTableGoesOn: there may be no file; what is added is read, in its order; a new file has its
// head once.
func TestTheTableGoesOn(t *testing.T) {
	table := newTable(t)
	if all, err := table.Read(); err != nil || len(all) != 0 {
		t.Fatalf("%v, %v of no file", all, err)
	}
	want := []row{{"elections", 1, 60}, {"tasks, with a comma", 1 << 63, -1}}
	for _, r := range want {
		if err := table.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if all, err := table.Read(); err != nil || !slices.Equal(all, want) {
		t.Errorf("%v, %v, want %v", all, err, want)
	}
	text, err := os.ReadFile(table.Path)
	if want := "what,seed,count\nelections,1,60\n\"tasks, with a comma\",9223372036854775808,-1\n"; err != nil ||
		string(text) != want {
		t.Errorf("the file is %q, %v, want %q", text, err, want)
	}
	if err := table.Write(want[:1]); err != nil {
		t.Fatal(err)
	}
	if all, err := table.Read(); err != nil || !slices.Equal(all, want[:1]) {
		t.Errorf("%v, %v when one line is all that there is", all, err)
	}
}

// TestATableThatCannotBeRead: what a row says is not guessed.
func TestATableThatCannotBeRead(t *testing.T) {
	for _, line := range []string{"elections,1", "elections,1,2,3", "elections,-1,2", "elections,1,some"} {
		table := newTable(t)
		if err := os.WriteFile(table.Path, []byte("what,seed,count\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if all, err := table.Read(); err == nil || !strings.Contains(err.Error(), table.Path) {
			t.Errorf("%q is read as %v, %v", line, all, err)
		}
	}
}

// TestRunsShareATable: several add to a file at a time, and none tears a line of another.
func TestRunsShareATable(t *testing.T) {
	const runs, parts = 4, 100
	table := newTable(t)
	if err := table.Add(row{what: "first"}); err != nil { // the one that begins a file is alone
		t.Fatal(err)
	}
	var playing sync.WaitGroup
	for run := range runs {
		playing.Go(func() {
			for part := range parts {
				if err := table.Add(row{strings.Repeat("x", 50*run), uint64(part), run}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	playing.Wait()
	all, err := table.Read()
	if err != nil || len(all) != 1+runs*parts {
		t.Fatalf("%d rows, %v, want %d", len(all), err, 1+runs*parts)
	}
	next := map[int]uint64{}
	for _, r := range all[1:] {
		if r.seed != next[r.count] {
			t.Fatalf("run %d: part %d comes where %d was expected", r.count, r.seed, next[r.count])
		}
		next[r.count]++
	}
}

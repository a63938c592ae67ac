package figures_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rolemanager/rolemanager/bench/figures"
)

func TestRowsSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	s, err := figures.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	want := []figures.Row{
		{Job: "crash", Peer: "a", Mode: "TTL 4s", N: 1, Figure: "failover-ms", Value: 3998.25},
		{Job: "rest", Peer: "b", N: 10_000, Figure: "overdue-s", Value: -1, Note: "a comma, \"quotes\"\nand a line"},
	}
	for _, r := range want {
		if err := s.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	got, err := figures.Read(path) // before it is closed: what was measured is there, whatever comes after
	if err != nil || len(got) == 0 || got[0].Job != figures.About || !slices.Equal(got[1:], want) {
		t.Errorf("read %+v, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	for _, text := range []string{
		"", "a,b\n1,2\n", "job,peer,mode,n,figure,value,note\na,b,c,many,d,1,\n",
		"job,peer,mode,n,figure,value,note\na,b,c,1,d,much,\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, err := figures.Read(path); err == nil {
			t.Errorf("%q was read as %v", text, rows)
		}
	}
}

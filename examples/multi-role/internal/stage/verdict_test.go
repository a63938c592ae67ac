package stage

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWrong: a digest that differs is wrong only if the file is as it was.
func TestWrong(t *testing.T) {
	root := plant(t, "changes", "goes", "stays")
	all, _, err := walk(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		right, err := digest(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if fault := wrong(f, Outcome{SHA256: right, Size: f.Size}); fault != "" {
			t.Errorf("%s: the right digest is wrong: %s", f.Rel, fault)
		}
		if fault := wrong(f, Outcome{SHA256: "0", Size: f.Size}); fault == "" {
			t.Errorf("%s: a wrong digest went unnoticed", f.Rel)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "changes"), []byte("other content, and longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "goes")); err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		stays := f.Rel == "stays"
		if fault := wrong(f, Outcome{SHA256: "of the input at that moment"}); stays != (fault != "") {
			t.Errorf("%s: another digest is reported as %q", f.Rel, fault)
		}
	}
}

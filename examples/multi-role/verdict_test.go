package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rolemanager/rolemanager/assigntest"
)

func TestWrong(t *testing.T) {
	root := plant(t, "changes", "goes", "stays")
	files, _, err := walk(root)
	if err != nil {
		t.Fatal(err)
	}
	right := map[string]checksumOut{}
	for _, f := range files {
		if right[f.rel], err = checksumFile(t.Context(), assigntest.NewTask(t, checksumIn{Path: f.path})); err != nil {
			t.Fatal(err)
		}
		if fault := wrong(f, right[f.rel]); fault != "" {
			t.Errorf("%s: the right digest is wrong: %s", f.rel, fault)
		}
		if fault := wrong(f, checksumOut{SHA256: "0", Size: f.size}); fault == "" {
			t.Errorf("%s: a wrong digest went unnoticed", f.rel)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "changes"), []byte("other content, and longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "goes")); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		fault := wrong(f, checksumOut{SHA256: "of what it was at that moment"})
		if stays := f.rel == "stays"; stays != (fault != "") {
			t.Errorf("%s: another digest is reported as %q", f.rel, fault)
		}
	}
}

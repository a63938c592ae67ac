package architecture

import (
	"path/filepath"
	"strings"
	"testing"
)

// stagePackage is the demo around examples/multi-role.
const stagePackage = "examples/multi-role/internal/stage"

// TestMultiRoleCanBeCopied: the files of examples/multi-role, its tests included, import public
// packages only. Only main.go knows the stage.
func TestMultiRoleCanBeCopied(t *testing.T) {
	files, err := filepath.Glob("../../examples/multi-role/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	staged := false
	for _, file := range files {
		_, imported := header(t, file)
		for _, path := range imported {
			own, ok := strings.CutPrefix(path, module+"/")
			switch {
			case ok && own == stagePackage && filepath.Base(file) == "main.go":
				staged = true
			case ok && (own == stagePackage || isInternal(own)):
				t.Errorf("%s imports %s: nobody could copy it", file, own)
			}
		}
	}
	if !staged {
		t.Error("main.go does not import the stage: this test looks for it in the wrong place")
	}
}

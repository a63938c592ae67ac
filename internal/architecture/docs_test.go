package architecture

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var goBlock = regexp.MustCompile("(?ms)^```go\n(.*?)^```")

// TestDocumentedPrograms builds every Go block of the documents: each is a whole program.
func TestDocumentedPrograms(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	built := 0
	for _, document := range append(documents, filepath.Join(root, "README.md")) {
		text, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range goBlock.FindAllStringSubmatch(string(text), -1) {
			built++
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(document), i+1), func(t *testing.T) { build(t, root, block[1]) })
		}
	}
	if built == 0 {
		t.Error("no program was found in any document")
	}
}

// build compiles a program as a package of this module that exists only in an overlay.
func build(t *testing.T, root, program string) {
	t.Helper()
	if !strings.HasPrefix(program, "package main") {
		t.Fatal("not a whole program: it cannot be compiled")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	overlay, err := json.Marshal(map[string]any{
		"Replace": map[string]string{filepath.Join(root, "internal", "documented", "main.go"): source},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{source: []byte(program), filepath.Join(dir, "overlay.json"): overlay} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-o", os.DevNull, "-overlay", filepath.Join(dir, "overlay.json"), "./internal/documented")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

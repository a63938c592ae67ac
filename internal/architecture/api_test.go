package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestPublicAPI compares what go doc shows of each public package with a file, so that a change of
// the contract is seen in a diff. A change that is meant is written down with
//
//	go test ./internal/architecture -run PublicAPI -rewrite
//
// CI compares them at every commit: go doc takes seconds for all packages.
func TestPublicAPI(t *testing.T) {
	if !thorough.Asked() && !*rewrite {
		t.Skip("CI compares the API with its files: set CI=true to do so")
	}
	for _, pkg := range public {
		t.Run(pkg, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "doc", "-all", "./"+pkg)
			cmd.Dir = "../.."
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("go doc %s: %v", pkg, err)
			}
			golden := filepath.Join("testdata", "api", strings.ReplaceAll(pkg, "/", "_")+".txt")
			if *rewrite {
				if err := os.MkdirAll(filepath.Dir(golden), 0o750); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, out, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if line, ok := differs(string(want), string(out)); ok {
				t.Errorf("the API of %s has changed, first at %q: if that is meant, run this test with -rewrite", pkg, line)
			}
		})
	}
}

// differs returns the first line of got that is not in its place in want.
func differs(want, got string) (line string, ok bool) {
	if want == got {
		return "", false
	}
	lines, wanted := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i, l := range lines {
		if i >= len(wanted) || l != wanted[i] {
			return l, true
		}
	}
	return "the end", true
}

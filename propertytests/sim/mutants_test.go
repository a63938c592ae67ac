package sim

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// edit replaces one text of one file, given from the root of the module.
type edit struct{ file, old, new string }

// mutant is the core with one rule taken out, or the store with one condition.
type mutant struct {
	name  string
	edits []edit
	unit  bool // caught by the tests beside the core: compare-and-swap makes it harmless, or it takes too rare a chance
}

// TestMutants proves that the simulation can fail: each mutant has to be caught. It compiles every one of them, so it runs
// only with MUTANTS=1. Production code has no switches for it: the changed files are overlaid at build time.
func TestMutants(t *testing.T) {
	if os.Getenv("MUTANTS") == "" {
		t.Skip("set MUTANTS=1 to compile and run the mutants")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) { m.mustDie(t, root) })
	}
}

// TestMutantsFit: what the mutants replace is there, so that the list cannot rot unnoticed.
func TestMutantsFit(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		m.texts(t, root)
	}
}

var verdict = regexp.MustCompile(`the role changed.*|(wild seed \d+, )?failed after \d+ tests?: .*|seed \d+: .*|panic: .*|_test.go:\d+: .*`)

// texts are the changed files, by their paths.
func (m mutant) texts(t *testing.T, root string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, e := range m.edits {
		path := filepath.Join(root, e.file)
		if texts[path] == "" {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(b)
		}
		if n := strings.Count(texts[path], e.old); n != 1 {
			t.Fatalf("%s: %s holds %d times what the mutant replaces: %q", m.name, e.file, n, e.old)
		}
		texts[path] = strings.Replace(texts[path], e.old, e.new, 1)
	}
	return texts
}

func (m mutant) mustDie(t *testing.T, root string) {
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range m.texts(t, root) {
		overlay.Replace[path] = filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(overlay.Replace[path], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	binary, under := filepath.Join(dir, "mutant.test"), "."
	if m.unit {
		under = filepath.Join(root, core)
	}
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, under)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not compile: %v\n%s", err, out)
	}
	args := []string{"-test.timeout", "10m"}
	if !m.unit {
		args = append(args, "-test.run", "Test(LostReplies|UnreadyCandidate|BucketGoesBack|Election)$", "-rapid.shrinktime", "1ms", "-sim.schedules", "6000")
	}
	run := exec.CommandContext(t.Context(), binary, args...)
	out, err := run.CombinedOutput()
	if err == nil {
		t.Fatal("survived")
	}
	if found := verdict.FindSubmatch(out); found != nil {
		t.Logf("%s", found[0])
	} else {
		t.Fatalf("died for no reason that can be read:\n%.2000s", out)
	}
}

package explore

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// edit replaces one text of one file, given from the root of the module.
type edit struct{ file, old, new string }

// mutant is the core with one rule taken out, or the model with one condition of the store, and the configuration in which
// it has to be found.
type mutant struct {
	name  string
	in    string
	edits []edit
}

// TestMutants proves that the explorer can fail: each mutant has to be found. It compiles every one of them, so it runs only
// with MUTANTS=1. Production code has no switches for it: the changed files are overlaid at build time.
func TestMutants(t *testing.T) {
	if os.Getenv("MUTANTS") == "" {
		t.Skip("set MUTANTS=1 to compile and run the mutants")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range electionMutants {
		t.Run("elections/"+strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) { m.mustDie(t, root, "TestElections") })
	}
	for _, m := range taskMutants {
		t.Run("tasks/"+strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) { m.mustDie(t, root, "TestTasks") })
	}
}

// TestMutantsFit: what the mutants replace is there, so that the list cannot rot unnoticed.
func TestMutantsFit(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Concat(electionMutants, taskMutants) {
		m.texts(t, root)
	}
}

var verdict = regexp.MustCompile(`_test.go:\d+: (.*)\n\s*(after \d+ moves, among \d+ states)|(panic: .*)`)

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

func (m mutant) mustDie(t *testing.T, root, test string) {
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range m.texts(t, root) {
		overlay.Replace[path] = filepath.Join(dir, filepath.Base(filepath.Dir(path))+"_"+filepath.Base(path))
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
	binary := filepath.Join(dir, "mutant.test")
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not compile: %v\n%s", err, out)
	}
	run := exec.CommandContext(t.Context(), binary, "-test.run", test+"$", "-test.timeout", "20m",
		"-explore.states", "1000000", "-explore.only", m.in)
	out, err := run.CombinedOutput()
	if err == nil {
		t.Fatal("survived")
	}
	found := verdict.FindSubmatch(out)
	if found == nil {
		t.Fatalf("died for no reason that can be read:\n%.2000s", out)
	}
	t.Logf("%s %s%s", found[1], found[2], found[3])
	if testing.Verbose() && os.Getenv("MUTANTS") == "story" {
		t.Logf("%s", out)
	}
}

package tasksim

import (
	"encoding/json"
	"fmt"
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

// mutant is the rules with one taken out, or the model with one condition of the stream or of a follower.
type mutant struct {
	name  string
	edits []edit
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
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) { m.mustDie(t, root, ".", "TestRoughWorlds$") })
	}
	for _, m := range poisonous {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) { m.mustDie(t, root, ".", "TestPoison$|TestNobodyPaysForPeace$") })
	}
	for _, m := range rare {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) { m.mustDie(t, root, "../../internal/protocol/tasks", ".") })
	}
}

var verdict = regexp.MustCompile(`(failed after \d+ tests?: )?seed \d+, .*|\d+ crashes|\d+ attempts count as lost|panic: .*|_test.go:\d+: .*`)

// TestMutantsFit: what the mutants replace is still there, so that they go on to prove something.
func TestMutantsFit(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range slices.Concat(mutants, poisonous, rare) {
		if _, err := m.apply(root); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// apply returns the texts of the changed files, by path.
func (m mutant) apply(root string) (map[string]string, error) {
	texts := map[string]string{}
	for _, e := range m.edits {
		path := filepath.Join(root, e.file)
		if texts[path] == "" {
			b, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			texts[path] = string(b)
		}
		if n := strings.Count(texts[path], e.old); n != 1 {
			return nil, fmt.Errorf("%s holds %d times what the mutant replaces: %q", e.file, n, e.old)
		}
		texts[path] = strings.Replace(texts[path], e.old, e.new, 1)
	}
	return texts, nil
}

func (m mutant) mustDie(t *testing.T, root, pkg, test string) {
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	texts, err := m.apply(root)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range texts {
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
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", filepath.Join(dir, "overlay.json"), "-o", binary, pkg)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not compile: %v\n%s", err, out)
	}
	args := []string{"-test.run", test, "-test.timeout", "1h"}
	if pkg == "." {
		args = append(args, "-rapid.shrinktime", "1ms", "-rapid.nofailfile", "-tasksim.schedules", "60000")
	}
	run := exec.CommandContext(t.Context(), binary, args...)
	out, err := run.CombinedOutput()
	if err == nil || strings.Contains(string(out), "panic: test timed out") {
		t.Fatal("survived")
	}
	if found := verdict.Find(out); found != nil {
		t.Logf("%.200s", found)
	} else {
		t.Fatalf("died for no reason that can be read:\n%.2000s", out)
	}
}

package propertytests_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// taskMutant is the driver or the rules of tasks with one thing taken out, and the test that has to notice. Files are given
// from the root of the module.
type taskMutant struct {
	name           string
	test           place
	file, old, new string
}

// place is where a test is.
type place struct{ pkg, test string }

// atEveryWrite and inStorms are tests that mutants are run against. What they meet too rarely, such as a late result that
// comes just while the next attempt runs, is for the simulation of the rules, which has mutants of its own.
var (
	atEveryWrite = place{".", "TestTasksSchedulerLostAtEveryWrite"}
	inStorms     = place{"./bubblestorms", "TestTasksStorms"}
)

var taskMutants = []taskMutant{
	{"a tick is stored without its mark", atEveryWrite, "assign/commits_records.go", "Key: tickKey + e.Recurrence.Name", "Key: tickKey + e.Recurrence.Name + \"-\""},
	{"a checkpoint is stored as another one", atEveryWrite, "assign/commits_records.go", "Key: checkpointKey + e.ID, Value: e.Data,", "Key: checkpointKey + e.ID, Value: []byte(\"0\"),"},
	{"hand out before everybody has answered", inStorms, "internal/protocol/tasks/adopt.go", "return !s.ready && !w.synced && !w.foreign && w.session < s.cfg.Epoch", "return false"},
	{"handlers outlive their session", inStorms, "assign/execute.go", "\tx.lose(ErrSessionLost)\n", ""},
}

// TestTasksMutants proves that the tests of tasks can fail: each mutant has to be caught. It compiles every one of them, so it runs
// only with MUTANTS=1. Production code has no switches for it: the changed file is overlaid at build time.
func TestTasksMutants(t *testing.T) {
	if os.Getenv("MUTANTS") == "" {
		t.Skip("set MUTANTS=1 to compile and run the mutants")
	}
	for _, m := range taskMutants {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), m.mustDie)
	}
}

var foundBy = regexp.MustCompile(`(T[1-5]|unique|tick|checkpoint|an attempt)[^\n]*|panic: [^\n]*|_test.go:[^\n]*`)

// TestTasksMutantsFit: what the mutants replace is still there, so that they go on to prove something.
func TestTasksMutantsFit(t *testing.T) {
	for _, m := range taskMutants {
		t.Run(strings.ReplaceAll(m.name, " ", "-"), func(t *testing.T) { m.source(t) })
	}
}

// source is the file that the mutant changes.
func (m taskMutant) source(t *testing.T) (path, text string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", m.file))
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), m.old); n != 1 {
		t.Fatalf("%s holds %d times what the mutant replaces: %q", m.file, n, m.old)
	}
	return path, string(data)
}

func (m taskMutant) mustDie(t *testing.T) {
	path, text := m.source(t)
	dir := t.TempDir()
	mutant, overlay, binary := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant.test")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
	if err != nil {
		t.Fatal(err)
	}
	for file, data := range map[string][]byte{mutant: []byte(strings.Replace(text, m.old, m.new, 1)), overlay: replace} {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-overlay", overlay, "-o", binary, m.test.pkg).CombinedOutput(); err != nil {
		t.Fatalf("the mutant does not compile: %v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), binary, "-test.run", "^"+m.test.test+"$", "-test.timeout", "3m").CombinedOutput()
	if err == nil {
		t.Fatal("survived")
	}
	t.Logf("%.200s", foundBy.Find(out))
}

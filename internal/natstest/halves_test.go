package natstest_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// inHalves names the variable that has this program run the two tests below in halves. They write
// files into the directory that it names.
const inHalves = "NATSTEST_TRY_HALVES"

func halves(m *testing.M) {
	flag.Parse()
	if err := flag.Lookup("test.run").Value.Set("^TestIsInHalf"); err != nil { // unlike flag.Set it leaves no trace
		panic(err)
	}
	natstest.Halves(m)
}

func TestIsInHalfOne(t *testing.T) { inHalf(t) }

func TestIsInHalfTwo(t *testing.T) { inHalf(t) }

// inHalf notes which process has run the test, and fails if that is asked for.
func inHalf(t *testing.T) {
	dir := os.Getenv(inHalves)
	if dir == "" {
		t.Skip("it is for TestHalves")
	}
	if err := os.WriteFile(filepath.Join(dir, t.Name()), []byte(fmt.Sprint(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile("testdata/read by " + t.Name()); err == nil {
		t.Error("there is such a file")
	}
	if _, err := os.Stat(filepath.Join(dir, "fail "+t.Name())); err == nil {
		t.Error("as ordered")
	}
}

// TestHalves: a run of all tests has two processes, each runs one half, and the failure of either
// is a failure. Go test sees what both have read. A run of some tests has one process.
func TestHalves(t *testing.T) {
	const one, two = "TestIsInHalfOne", "TestIsInHalfTwo"
	for _, c := range []struct {
		args      []string
		fails     string
		processes int
	}{
		{nil, "", 2}, {nil, one, 2}, {nil, two, 2}, {[]string{"-test.v"}, "", 1}, {[]string{"-test.cpu=2"}, two, 1},
	} {
		dir := t.TempDir()
		if c.fails != "" {
			if err := os.WriteFile(filepath.Join(dir, "fail "+c.fails), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		log := filepath.Join(dir, "log")
		cmd := exec.Command(os.Args[0], append([]string{"-test.timeout=1m", "-test.testlogfile=" + log}, c.args...)...)
		cmd.Env = append(os.Environ(), inHalves+"="+dir, "GOMAXPROCS=2")
		out, err := cmd.CombinedOutput()
		if (err != nil) != (c.fails != "") || c.fails != "" && !strings.Contains(string(out), "--- FAIL: "+c.fails) {
			t.Fatalf("%+v: %v\n%s", c, err, out)
		}
		ran := map[string]bool{}
		read, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{one, two} {
			pid, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			ran[string(pid)] = true
			if !slices.Contains(strings.Split(string(read), "\n"), "open testdata/read by "+name) {
				t.Errorf("%+v: what %s has read is not in the log:\n%s", c, name, read)
			}
		}
		if len(ran) != c.processes {
			t.Errorf("%+v: %d processes", c, len(ran))
		}
		if n := strings.Count(string(read), "# test log"); n != 1 {
			t.Errorf("%+v: the log has %d heads", c, n)
		}
	}
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// binary is the program as it is built, for all tests.
var binary string

func TestMain(m *testing.M) { os.Exit(tested(m)) }

// together is how many tests run beside each other: most of the time they wait for processes, and
// these for leases.
const together = 16

func tested(m *testing.M) int {
	natstest.Together(together)
	dir, err := os.MkdirTemp("", "rolectl-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "rolectl")
	// unlike go build, go run keeps what it has linked
	out, err := exec.Command("go", "run", "-exec=cp", "-ldflags=-s -w", ".", binary).CombinedOutput()
	if err != nil {
		fmt.Fprintf(os.Stderr, "build rolectl: %v\n%s", err, out)
		return 1
	}
	code := m.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, "goroutines are left after the tests:", err)
			return 1
		}
	}
	return code
}

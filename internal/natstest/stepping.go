package natstest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// SteppingServer starts a server in a process of its own whose wall clock can be stepped while it
// runs (natsrun.Process.Step). It is the real server, with an offset that is added to each reading
// of the wall clock. On Linux and amd64 the program itself adds it, behind the runtime. Elsewhere
// package time of the standard library does, which takes a build of everything above that package:
// about a minute for the first time, and a second from then on.
func SteppingServer(tb testing.TB) *natsrun.Process {
	tb.Helper()
	return process(tb, steppingProgram(tb), natsrun.Options{})
}

// stepping is the package of the server, which ./... leaves out.
const stepping = "github.com/rolemanager/rolemanager/internal/natstest/testdata/stepping"

// steppingProgram builds the server, and returns its path.
func steppingProgram(tb testing.TB) string {
	tb.Helper()
	// The go command knows the directory even with -trimpath, which removes it from the test
	// binary.
	dir, err := exec.CommandContext(tb.Context(), "go", "list", "-f", "{{.Dir}}", stepping).Output()
	if err != nil {
		tb.Fatalf("go list %s: %v", stepping, err)
	}
	source := strings.TrimSpace(string(dir))
	program := filepath.Join(tb.TempDir(), "stepping")
	// The linker keeps programs from the runtime's variables unless it is told not to.
	args := []string{"build", "-ldflags=-s -w -checklinkname=0"}
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		standardText(tb, kernelCall, "runtime", "time_linux_amd64.s")
	} else {
		args = append(args, "-overlay", steppedTime(tb, source))
	}
	build := exec.CommandContext(tb.Context(), "go", append(args, "-o", program, ".")...)
	build.Dir = source
	if out, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("build the server with a stepping clock: %v\n%s", err, out)
	}
	return program
}

// wallReading is the place where package time takes the wall clock's reading from the runtime, and
// the lines after it.
const (
	wallReading = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	wallStep    = "\tsec += stepped.Load()\n"
)

// steppedTime writes an overlay in which time.Now adds the offset that StepWallClock was given, and
// returns its path.
func steppedTime(tb testing.TB, source string) string {
	tb.Helper()
	dir := tb.TempDir()
	path, text := standardText(tb, wallReading, "time", "time.go")
	changed := filepath.Join(dir, "time.go")
	text = strings.Replace(text, wallReading, wallReading+wallStep, 1)
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		path: changed,
		filepath.Join(filepath.Dir(path), "step.go"): filepath.Join(source, "clock.go.txt"),
	}})
	if err != nil {
		tb.Fatal(err)
	}
	path = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// kernelCall is the place where the runtime asks the kernel for the wall clock on Linux and amd64.
// The server with a stepping clock puts itself between the two.
const kernelCall = "\tMOVL\t$0, DI // CLOCK_REALTIME\n\tLEAQ\t16(SP), SI\n" +
	"\tMOVQ\truntime·vdsoClockgettimeSym(SB), AX\n\tCMPQ\tAX, $0\n\tJEQ\tfallback\n\tCALL\tAX\n"

// standardText reads a file of the standard library. It fails the test where this version of Go
// reads the wall clock otherwise than the server with a stepping clock expects.
func standardText(tb testing.TB, reading string, name ...string) (path, text string) {
	tb.Helper()
	root, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatalf("go env GOROOT: %v", err)
	}
	path = filepath.Join(strings.TrimSpace(string(root)), "src", filepath.Join(name...))
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if text = string(b); strings.Count(text, reading) != 1 {
		tb.Fatalf("%s reads the wall clock in another way than the server with a stepping clock expects, which changes "+
			"what it reads.\nLook how it does, and change internal/natstest/stepping.go and testdata/stepping. Expected is\n%s",
			path, reading)
	}
	return path, text
}

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
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
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
	root, err := exec.CommandContext(tb.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatalf("go env GOROOT: %v", err)
	}
	std := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	text, err := os.ReadFile(filepath.Join(std, "time.go"))
	if err != nil {
		tb.Fatal(err)
	}
	if n := strings.Count(string(text), wallReading); n != 1 {
		tb.Fatalf("%s holds %d times what reads the wall clock; look how this version of Go does it:\n%s", std, n,
			wallReading)
	}
	changed := filepath.Join(dir, "time.go")
	if err := os.WriteFile(changed, []byte(strings.Replace(string(text), wallReading, wallReading+wallStep, 1)),
		0o600); err != nil {
		tb.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(std, "time.go"): changed,
		filepath.Join(std, "step.go"): filepath.Join(source, "clock.go.txt"),
	}})
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

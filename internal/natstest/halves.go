package natstest

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// halfKey names the variable that tells a process that it runs the other half of the tests.
const halfKey = "NATSTEST_HALF"

// Each process leaves the tests out whose names end with some letters: about half of all. No name
// matches both.
const leftOutHere, leftOutThere = "[^a-m]$", "[a-m]$"

// plain are the flags that a run of all tests may have. With any other one it is about some of
// them, or somebody wants to see what the process does.
var plain = []string{"test.count", "test.paniconexit0", "test.short", "test.testlogfile", "test.timeout"}

// Halves is Main for packages with many bubbles, of which a process runs one at a time, and on one
// processor. If all tests are run, and there is more than one processor, then another process of
// the same binary runs half of them. Its output appears behind that of this one.
//
// A run of some tests, with -v, -json or a profile, has one process like that of Main.
func Halves(m *testing.M, ignore ...goleak.Option) {
	if !flag.Parsed() {
		flag.Parse()
	}
	serveIfAsked()
	if isOther() {
		go endWithInput()
		os.Exit(run(m, append(ignore, goleak.IgnoreAnyFunction(itsName))))
	}
	if runtime.GOMAXPROCS(0) < 2 || !runsAll() {
		os.Exit(run(m, ignore))
	}
	other, err := startOther()
	if err == nil {
		err = flag.Set("test.skip", leftOutHere)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "natstest: start the other half of the tests:", err)
		os.Exit(1)
	}
	code := run(m, ignore)
	if err := other.end(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "natstest: the other half of the tests:", err)
		code = 1
	}
	os.Exit(code)
}

// runsAll reports whether the flags ask for one run of all tests, and for its result alone.
func runsAll() bool {
	is := flag.Lookup("test.count").Value.String() == "1"
	flag.Visit(func(f *flag.Flag) { is = is && slices.Contains(plain, f.Name) })
	return is
}

// isOther reports whether Halves has started this process. One that a test has started inherits the
// variable, but not the flag.
func isOther() bool {
	_, is := os.LookupEnv(halfKey)
	return is && flag.Lookup("test.skip").Value.String() == leftOutThere
}

// itsName is that of endWithInput in stack traces.
const itsName = "github.com/rolemanager/rolemanager/internal/natstest.endWithInput"

// endWithInput ends this process when the one that started it is gone, however that has ended.
func endWithInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(1)
}

// half is a process that runs half of the tests. It starts no goroutine here, which would look like
// one that a test has left.
type half struct {
	cmd  *exec.Cmd
	out  *os.File
	logs []string // the files in which this process and the other one note for go test what they read; or none
}

// startOther starts the process that runs the other half.
func startOther() (h *half, err error) {
	h = &half{}
	args := slices.Clone(os.Args[1:])
	for i, arg := range args {
		const to = "-test.testlogfile="
		if path, is := strings.CutPrefix(arg, to); is {
			h.logs = []string{path, path + ".half"}
			args[i] = to + h.logs[1]
		}
	}
	if h.out, err = os.CreateTemp("", "natstest-half-"); err != nil {
		return nil, err
	}
	h.cmd = exec.Command(os.Args[0], append(args, "-test.skip="+leftOutThere)...)
	h.cmd.Env = append(os.Environ(), halfKey+"=")
	h.cmd.Stdout, h.cmd.Stderr = h.out, h.out
	if _, err := h.cmd.StdinPipe(); err != nil { // it ends with this process
		return nil, err
	}
	return h, h.cmd.Start()
}

// end waits until the process has ended, and passes on what it has written.
func (h *half) end(to io.Writer) error {
	err := h.cmd.Wait()
	_, seekErr := h.out.Seek(0, io.SeekStart)
	_, copyErr := io.Copy(to, h.out)
	return errors.Join(err, seekErr, copyErr, h.out.Close(), os.Remove(h.out.Name()), h.joinLogs())
}

// joinLogs adds what the process has read to what this one has, so that go test sees when the
// result is out of date.
func (h *half) joinLogs() error {
	if h.logs == nil {
		return nil
	}
	read, err := os.ReadFile(h.logs[1])
	if err != nil {
		return err
	}
	log, err := os.OpenFile(h.logs[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, lines, _ := strings.Cut(string(read), "\n") // the first one is a head
	_, err = log.WriteString(lines)
	return errors.Join(err, log.Close(), os.Remove(h.logs[1]))
}

//go:build linux

package supervise

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/offspring"
)

// asGuard is in the environment of a process that this test starts as a guard.
const asGuard = "SUPERVISE_TEST_GUARD"

func TestMain(m *testing.M) {
	if os.Getenv(asGuard) == "" {
		os.Exit(m.Run())
	}
	command := os.Args[slices.Index(os.Args, "--")+1:]
	Guard(command[0], command[1:])
}

// TestStoppedBeforeItRuns: a command that has to end before its guard has started it gets its TERM
// when it runs, and is not killed after the time that it may take to end.
func TestStoppedBeforeItRuns(t *testing.T) {
	path, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	lease := For(time.Minute)
	lease.Left, lease.Stop = func() time.Duration { return time.Minute }, 10*time.Second
	result, err := Run(stopped, []string{os.Args[0]}, Command{
		Path: path, Args: []string{"sleep", "1000"}, Env: append(os.Environ(), asGuard+"=1"),
	}, lease)
	if err != nil || result != (Result{Code: 128 + int(syscall.SIGTERM)}) {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestAGuardReportsTheEnd: a guard that learns at once that the command has ended and that nobody
// is left reports the end, and then leaves.
func TestAGuardReportsTheEnd(t *testing.T) {
	for range 20 { // without an order, each time is a matter of chance
		ours, theirs, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		first, none := make(chan offspring.End, 1), make(chan struct{})
		first <- offspring.End{Code: 7}
		close(none)
		g := guardian{
			clock: clock.System(), reports: theirs, orders: make(chan order), armed: true, first: first,
			family: &offspring.Family{First: first, None: none},
		}
		g.present.Term, g.present.Kill = clock.System().Holder().Add(time.Hour), clock.System().Holder().Add(time.Hour)
		g.attend()
		theirs.Close()
		if said, err := io.ReadAll(ours); err != nil || string(said) != string([]byte{ended, 7}) {
			t.Errorf("it says %v, %v", said, err)
		}
		ours.Close()
	}
}

// TestAGuardThatWasKilled: its process is reaped before its reports end, or after. The command has
// ended with it either way, and the error says why.
func TestAGuardThatWasKilled(t *testing.T) {
	for name, said := range map[string]report{"it had said nothing": {}, "it had said that the command ran": {started}} {
		t.Run(name, func(t *testing.T) {
			first, none := make(chan offspring.End, 1), make(chan struct{})
			theirs, ours, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer theirs.Close()
			defer ours.Close()
			g := &guard{
				cmd: &exec.Cmd{Process: &os.Process{Pid: os.Getpid()}}, tell: ours, said: make(chan report, 4),
				family: &offspring.Family{First: first, None: none},
			}
			g.gone.Store(true) // its number is another one's
			first <- offspring.End{Code: 128 + int(syscall.SIGKILL), Left: true}
			go func() {
				if said != (report{}) {
					g.said <- said
				}
				close(g.said)
				close(none)
			}()
			r := run{guard: g, lease: For(time.Minute), clock: clock.System()}
			r.lease.Left = func() time.Duration { return time.Minute }
			result, err := r.attend(context.Background())
			if !errors.Is(err, ErrGuard) || result.Lost {
				t.Errorf("%+v, %v", result, err)
			}
		})
	}
}

package guard

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// nobody is a connection of a guard whose server is not there. The program has no session.
func nobody(t *testing.T) *nats.Conn {
	t.Helper()
	nc, err := nats.Connect("nats://127.0.0.1:1", nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// TestOneProgramAtATime: while something lives that a program has left behind, the same process
// guards no other one; then it does again.
func TestOneProgramAtATime(t *testing.T) {
	nc := nobody(t)
	stays, ends, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stays.Close()
	run := func(script string) (Result, error) {
		cmd := exec.Command("sh", "-c", script)
		cmd.Stdin = stays
		return Run(t.Context(), Config{Conn: nc, LeaveChildren: true}, cmd)
	}
	if r, err := run("exec 3<&0; cat <&3 & exit 3"); err != nil || r.Code != 3 {
		t.Fatalf("%+v, %v", r, err)
	}
	if r, err := run("exit 7"); !errors.Is(err, ErrConfig) {
		t.Errorf("beside what is left of another: %+v, %v", r, err)
	}
	ends.Close() // and so does what is left
	for {
		r, err := run("exit 7")
		if errors.Is(err, ErrConfig) {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if err != nil || r.Code != 7 {
			t.Errorf("%+v, %v", r, err)
		}
		return
	}
}

// TestTheEndOfSignals: signals that end are none, and one that comes while the rest of the program
// ends is the end of its time.
func TestTheEndOfSignals(t *testing.T) {
	closed := make(chan os.Signal)
	close(closed)
	cfg := Config{Conn: nobody(t), Signals: closed, StopTimeout: time.Hour}
	if r, err := Run(t.Context(), cfg, exec.Command("sh", "-c", "sleep 0.1; exit 2")); err != nil || r.Code != 2 {
		t.Errorf("%+v, %v", r, err)
	}
	signals := make(chan os.Signal)
	cfg.Signals = signals
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command("sh", "-c", `(trap "" TERM; echo on; while :; do sleep 0.05; done) & exec sleep 1000`)
	cmd.Stdout = in
	over := make(chan struct{})
	defer close(over)
	go func() {
		_, _ = out.Read(make([]byte, 8))
		for {
			select {
			case signals <- os.Interrupt:
			case <-over:
				return
			}
		}
	}()
	if _, err := Run(t.Context(), cfg, cmd); err != nil {
		t.Error(err)
	}
	in.Close()
}

// TestContextEnds: the program gets TERM, and KILL after StopTimeout.
func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	go func() {
		_, _ = out.Read(make([]byte, 1)) // it ignores TERM from here on
		cancel()
	}()
	cfg := Config{Conn: nobody(t), StopTimeout: 100 * time.Millisecond}
	cmd := exec.Command("sh", "-c", `trap "" TERM; echo; while :; do sleep 0.05; done`)
	cmd.Stdout = in
	r, err := Run(ctx, cfg, cmd)
	if err != nil || r.Code != 137 {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestEveryFaultNamesItsFix(t *testing.T) {
	nc := nobody(t)
	sh := func() *exec.Cmd { return exec.Command("sh") }
	piped := sh()
	piped.Stdout = &bytes.Buffer{}
	for says, tt := range map[string]struct {
		cfg Config
		cmd *exec.Cmd
	}{
		"give the guard a connection": {Config{}, sh()},
		"leave it out for 5 s":        {Config{Conn: nc, StopTimeout: -1}, sh()},
		"leave it out for 2 s":        {Config{Conn: nc, WriteTimeout: -1}, sh()},
		"make one with exec.Command":  {Config{Conn: nc}, nil},
		"give an *os.File":            {Config{Conn: nc}, piped},
	} {
		if _, err := Run(t.Context(), tt.cfg, tt.cmd); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), says) {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	if _, err := Run(t.Context(), Config{Conn: nc}, exec.Command("/no/such/program")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

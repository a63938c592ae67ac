//go:build linux || darwin

package supervise

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/internal/offspring"
)

// guard is the guard process, as seen by the rolectl that started it.
type guard struct {
	cmd    *exec.Cmd
	tell   *os.File
	last   order
	said   chan report // closed when it has ended, by itself or by a signal
	gone   atomic.Bool
	family *offspring.Family // the guard and all below it
}

// tellWithin bounds a write to a guard that is stopped and does not read.
const tellWithin = 50 * time.Millisecond

// The descriptors of a guard. Those before are of the command.
const (
	ordersFD  = 3
	reportsFD = 4
)

// startGuard starts program, which calls Guard, as the leader of a new process group, and waits
// until it listens. It does not start the command before it has an order.
func startGuard(program []string, c Command) (*guard, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe to the guard: %w", err)
	}
	defer theirs.Close()
	said, says, err := os.Pipe()
	if err != nil {
		ours.Close()
		return nil, fmt.Errorf("make a pipe from the guard: %w", err)
	}
	defer says.Close()
	g := &guard{tell: ours, said: make(chan report, 4)} // as many as it says
	g.cmd = &exec.Cmd{
		Path: program[0], Args: slices.Concat([]string{"rolectl"}, program[1:], []string{"--", c.Path}, c.Args), Env: c.Env,
		ExtraFiles: []*os.File{theirs, says}, SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	if c.Stdin != nil { // else an interface would hold a nil pointer
		g.cmd.Stdin = c.Stdin
	}
	if c.Stdout != nil {
		g.cmd.Stdout = c.Stdout
	}
	if c.Stderr != nil {
		g.cmd.Stderr = c.Stderr
	}
	if err = claim(); err == nil {
		if err = g.cmd.Start(); err != nil {
			release()
		}
	}
	if err != nil {
		ours.Close()
		said.Close()
		return nil, fmt.Errorf("start the guard: %w", err)
	}
	says.Close() // the end of the guard is the end of what it says
	g.family = follow(g.cmd, g.group())
	ready := report{}
	if _, err := io.ReadFull(said, ready[:]); err != nil || ready[0] != listens {
		said.Close()
		g.end()
		return nil, errors.New("the guard did not start")
	}
	go func() { // ends with the guard
		defer said.Close()
		defer close(g.said)
		defer g.gone.Store(true)
		for r := (report{}); ; {
			if _, err := io.ReadFull(said, r[:]); err != nil {
				return
			}
			g.said <- r
		}
	}()
	return g, nil
}

// group is the process group that the guard leads.
func (g *guard) group() int { return g.cmd.Process.Pid }

// order tells the guard when to act. If the guard is stopped or gone, rolectl acts alone, and
// notices its end.
func (g *guard) order(o order) {
	if o == g.last {
		return
	}
	g.last = o
	g.write(o)
}

// pass has the guard send a signal to the command itself.
func (g *guard) pass(s os.Signal) {
	if s, ok := s.(syscall.Signal); ok {
		o := g.last
		o.Pass = s
		g.write(o)
	}
}

func (g *guard) write(o order) {
	_ = g.tell.SetWriteDeadline(time.Now().Add(tellWithin))
	_, _ = g.tell.Write(o.encode())
}

// term asks all but the guard to end.
func (g *guard) term() { signalAll(syscall.SIGTERM, g.group(), g.group()) }

// kill ends all, and the guard too: it may be stopped, and then it waits for nobody. Its
// children become those of this process.
func (g *guard) kill() {
	if !g.gone.Load() { // else its number may be another one's
		_ = syscall.Kill(-g.group(), syscall.SIGKILL) // at once: nobody of the group can fork meanwhile
	}
	signalAll(syscall.SIGKILL, 0, g.group())
}

// end releases the guard, and waits until it and all others are gone.
func (g *guard) end() {
	g.order(order{Release: true})
	g.tell.Close()
	for {
		select {
		case <-g.family.None:
			return
		case <-time.After(time.Second): // it is stopped, and has started nothing
			g.kill()
		}
	}
}

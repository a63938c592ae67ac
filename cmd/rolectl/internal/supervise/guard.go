//go:build linux || darwin

package supervise

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
)

// order tells the guard when to send which signal, unless another order comes first.
type order struct {
	Term, Kill clock.Instant // of the holder's scale
	Stop       time.Duration // between TERM and KILL when rolectl is gone
	Release    bool          // the run is over: end, and send no signal
}

const orderSize = 4 * 8

func (o order) encode() []byte {
	b := make([]byte, 0, orderSize)
	release := uint64(0)
	if o.Release {
		release = 1
	}
	for _, v := range []uint64{uint64(o.Term), uint64(o.Kill), uint64(o.Stop), release} {
		b = binary.BigEndian.AppendUint64(b, v)
	}
	return b
}

func decodeOrder(b []byte) order {
	at := func(i int) uint64 { return binary.BigEndian.Uint64(b[8*i:]) }
	return order{clock.Instant(at(0)), clock.Instant(at(1)), time.Duration(at(2)), at(3) != 0}
}

// guard is the guard process, as seen by the rolectl that started it.
type guard struct {
	cmd   *exec.Cmd
	tell  *os.File
	last  order
	gone  chan struct{} // closed when it has ended, by itself or by a signal
	ended chan struct{}
}

// tellWithin bounds a write to a guard that is stopped and does not read.
const tellWithin = 50 * time.Millisecond

// startGuard starts program, which calls Guard, as the leader of a new process group, and waits
// until it listens.
func startGuard(program []string) (*guard, error) {
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
	g := &guard{tell: ours, gone: make(chan struct{}), ended: make(chan struct{})}
	g.cmd = &exec.Cmd{
		Path: program[0], Args: append([]string{"rolectl"}, program[1:]...), Env: os.Environ(), Stdin: theirs, Stdout: says,
		Stderr:      os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
	}
	err = g.cmd.Start()
	says.Close()
	if err != nil {
		ours.Close()
		said.Close()
		return nil, fmt.Errorf("start the guard: %w", err)
	}
	ready := make([]byte, 1)
	if _, err := io.ReadFull(said, ready); err != nil {
		ours.Close()
		said.Close()
		return nil, errors.Join(errors.New("the guard did not start"), g.cmd.Wait())
	}
	go func() { // joined by end
		defer close(g.ended)
		_, _ = said.Read(ready) // the guard writes nothing more: the read returns when it ends
		said.Close()
		close(g.gone)
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
	_ = g.tell.SetWriteDeadline(time.Now().Add(tellWithin))
	_, _ = g.tell.Write(o.encode())
}

// signal sends a signal to all processes of the group. The guard is one of them, and ignores all
// signals but KILL.
func (g *guard) signal(s syscall.Signal) { _ = syscall.Kill(-g.group(), s) } // fails only when no process is left

// end releases the guard and waits for it. Only then its number, which is the group's too, may be
// reused.
func (g *guard) end() {
	g.order(order{Release: true})
	g.tell.Close()
	select {
	case <-g.gone:
	case <-time.After(time.Second): // it is stopped, and the group has no other process
		_ = g.cmd.Process.Kill()
	}
	<-g.ended
	_ = g.cmd.Wait() // its exit code has no meaning
}

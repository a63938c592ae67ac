//go:build linux

package proc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Child is a process that this one has started.
type Child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	hear func(Event)

	mu      sync.Mutex
	next    uint64
	waiting map[uint64]chan line
	ready   chan struct{}
	gone    chan struct{} // closed when its output has ended
}

// patience is how long a child may take to set itself up.
const patience = 5 * time.Minute

// Start starts a child of a kind and waits until it is ready. hear is called with each of its
// events, in order, from one goroutine that has ended when Kill or Close returns.
func Start(kind string, config any, hear func(Event)) (*Child, error) {
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	// The very program that runs, even if another has been built in its place since.
	c := &Child{
		cmd: exec.Command("/proc/self/exe"), hear: hear, waiting: map[uint64]chan line{},
		ready: make(chan struct{}), gone: make(chan struct{}),
	}
	c.cmd.Env = Environ(kind, string(text))
	c.cmd.Stderr = os.Stderr
	// one that is paused does not see its input end
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a %s: %w", kind, err)
	}
	go c.listen(out)
	select {
	case <-c.ready:
		return c, nil
	case <-c.gone:
		return nil, fmt.Errorf("start a %s: it has ended: %w", kind, errors.Join(c.cmd.Wait()))
	case <-time.After(patience):
		c.Kill()
		return nil, fmt.Errorf("start a %s: not ready within %v", kind, patience)
	}
}

// Environ is the environment of a child.
func Environ(kind, config string) []string {
	return append(os.Environ(), kindEnv+"="+kind, configEnv+"="+config) // the last ones count
}

func (c *Child) listen(out io.Reader) {
	defer close(c.gone)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			fmt.Fprintf(os.Stderr, "a child said %q: %v\n", lines.Text(), err)
			continue
		}
		switch {
		case l.Event != nil && l.Event.What == "ready":
			close(c.ready)
		case l.Event != nil:
			if c.hear != nil {
				c.hear(*l.Event)
			}
		default:
			c.mu.Lock()
			w := c.waiting[l.ID]
			delete(c.waiting, l.ID)
			c.mu.Unlock()
			if w != nil {
				w <- l
			}
		}
	}
}

// Call asks the child something and waits for the reply, which is decoded into reply unless that is
// nil.
func (c *Child) Call(ctx context.Context, name string, args, reply any) error {
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	w := make(chan line, 1) // the one reply: listen never waits for the one that asked
	c.mu.Lock()
	c.next++
	id := c.next
	c.waiting[id] = w
	asked, err := json.Marshal(call{ID: id, Name: name, Args: text})
	if err == nil {
		_, err = c.in.Write(append(asked, '\n'))
	}
	c.mu.Unlock()
	if err != nil {
		return fmt.Errorf("call %s: %w", name, err)
	}
	select {
	case l := <-w:
		if l.Fault != "" {
			return fmt.Errorf("call %s: %s", name, l.Fault)
		}
		if reply == nil {
			return nil
		}
		return json.Unmarshal(l.Reply, reply)
	case <-c.gone:
		return fmt.Errorf("call %s: the process has ended", name)
	case <-ctx.Done():
		return fmt.Errorf("call %s: %w", name, context.Cause(ctx))
	}
}

// Kill ends the process with SIGKILL, as a crash does, and returns when it is gone, with the time
// at which it was sent.
func (c *Child) Kill() (at int64) {
	at = Now()
	_ = c.cmd.Process.Kill() // it may have ended by itself
	<-c.gone
	_ = c.cmd.Wait() // says that it was killed
	return at
}

// Crash ends a process below this one with SIGKILL, and returns when this one has ended after it,
// with the time at which the signal was sent.
func (c *Child) Crash(pid int) (at int64) {
	at = Now()
	_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
	<-c.gone
	_ = c.cmd.Wait()
	return at
}

// Pause and Resume stop the whole process and let it continue, as the kernel does with a machine
// that swaps.
func (c *Child) Pause() error  { return c.cmd.Process.Signal(syscall.SIGSTOP) }
func (c *Child) Resume() error { return c.cmd.Process.Signal(syscall.SIGCONT) }

// Close ends the process's input, after which it exits.
func (c *Child) Close() {
	_ = c.in.Close()
	select {
	case <-c.gone:
		_ = c.cmd.Wait()
	case <-time.After(10 * time.Second):
		c.Kill()
	}
}

// Usage is the processor time that the child has used.
func (c *Child) Usage(ctx context.Context) (u Usage, err error) {
	err = c.Call(ctx, "usage", nil, &u)
	return u, err
}

// CPU is all of it.
func (c *Child) CPU(ctx context.Context) (time.Duration, error) {
	u, err := c.Usage(ctx)
	return u.CPU, err
}

// Memory is what the child holds after a collection.
func (c *Child) Memory(ctx context.Context) (m Memory, err error) {
	err = c.Call(ctx, "memory", nil, &m)
	return m, err
}

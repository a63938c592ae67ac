package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// plane is the processes that this one has started, by name.
type plane struct {
	url       string
	client    *assign.Client
	processes map[string]*process
}

type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
}

// start starts three managers and three agents.
func (p *plane) start() error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	for i := range 6 {
		as := []string{manager, agent}[i%2]
		id := fmt.Sprint(as, "-", i/2+1)
		one := &process{cmd: exec.Command(program, "-nats", p.url, "-as", as, "-id", id)}
		one.cmd.Stderr = os.Stderr
		if one.stdin, err = one.cmd.StdinPipe(); err != nil {
			return err
		}
		if err := one.cmd.Start(); err != nil {
			return err
		}
		p.processes[id] = one
	}
	return nil
}

// end has all of them end, and waits for that.
func (p *plane) end() (err error) {
	for _, one := range p.processes {
		_ = one.stdin.Close() // it ends then
	}
	for id, one := range p.processes {
		if one.cmd.ProcessState != nil {
			continue // it was killed
		}
		if e := one.cmd.Wait(); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", id, e))
		}
	}
	return err
}

// kill kills one of them, and waits until the kernel says that it is gone.
func (p *plane) kill(id string) error {
	one := p.processes[id]
	if one == nil {
		return fmt.Errorf("%s takes part, and is not of this run: use another server", id)
	}
	if err := one.cmd.Process.Kill(); err != nil { // SIGKILL
		return err
	}
	_ = one.cmd.Wait() // of a killed process: an error that says so
	return nil
}

// await asks the manager that leads until it answers what is wanted.
func (p *plane) await(ctx context.Context, want func(assign.Overview) bool) (assign.Overview, error) {
	for {
		o, err := assign.GetOverview(ctx, p.client)
		if err == nil && o.Ready && want(o) {
			return o, nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return o, context.Cause(ctx)
		}
	}
}

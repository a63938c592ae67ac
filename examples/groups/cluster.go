package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// cluster is the processes that this one has started.
type cluster struct {
	options options
	client  *assign.Client
	started int

	mu          sync.Mutex
	processes   []*process
	completions int // lines of completions that ran
	kills       []killing
}

// process is one of them.
type process struct {
	id, as string
	cmd    *exec.Cmd
	stdin  io.Closer
	done   chan struct{} // closed when it has ended
	ran    int           // members, as it has said last
}

// killing is one that was killed, and how long it took until tasks were handed out again.
type killing struct {
	id        string
	scheduler bool
	gap       time.Duration
}

// start starts three candidates and three workers, and waits until tasks are handed out to all.
func (c *cluster) start(ctx context.Context) error {
	for i := range 6 {
		if err := c.join([]string{candidate, worker}[i%2]); err != nil {
			return err
		}
	}
	_, err := c.await(ctx, func(o assign.Overview) bool { return o.Ready && len(o.Workers) == 6 })
	return err
}

// join starts a process.
func (c *cluster) join(as string) error {
	o := c.options
	c.started++
	p := &process{id: fmt.Sprint(as, "-", c.started), as: as, done: make(chan struct{})}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	p.cmd = exec.Command(program, "-as", as, "-id", p.id, "-nats", o.url, "-namespace", o.name,
		"-replicas", strconv.Itoa(o.replicas), "-slots", strconv.Itoa(o.slots), "-work", o.work.String(),
		"-ttl", o.ttl.String())
	p.cmd.Stderr = os.Stderr
	stdin, inErr := p.cmd.StdinPipe()
	stdout, outErr := p.cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return err
	}
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.stdin = stdin
	c.mu.Lock()
	c.processes = append(c.processes, p)
	c.mu.Unlock()
	go c.follow(p, stdout) // joined by end and by kill, through done
	return nil
}

// follow takes down what a process says, until it has ended.
func (c *cluster) follow(p *process, stdout io.Reader) {
	defer close(p.done)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		count, isCount := strings.CutPrefix(lines.Text(), ranLine)
		c.mu.Lock()
		if lines.Text() == completionLine {
			c.completions++
		} else if n, err := strconv.Atoi(count); isCount && err == nil {
			p.ran = n
		}
		c.mu.Unlock()
	}
	_ = p.cmd.Wait() // of a killed process: an error that says so
}

// heard is how often members and completions have run, as far as they could say it.
func (c *cluster) heard() (ran, completions int, kills []killing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.processes {
		ran += p.ran
	}
	return ran, c.completions, c.kills
}

// kill kills schedulers and workers in turn, while the members run, and starts another one for
// each.
func (c *cluster) kill(ctx context.Context) error {
	for i := range c.options.kills {
		for ran := 0; ran < c.options.members*(i+1)/(c.options.kills+1); ran, _, _ = c.heard() {
			if err := pause(ctx); err != nil {
				return err
			}
		}
		if err := c.killOne(ctx, i%2 == 0); err != nil {
			return err
		}
	}
	return nil
}

// killOne kills the scheduler, or the process that runs most of the tasks and is not the scheduler.
func (c *cluster) killOne(ctx context.Context, scheduler bool) error {
	o, err := c.await(ctx, func(o assign.Overview) bool { return o.Ready && len(o.Workers) > 1 })
	if err != nil {
		return err
	}
	id := o.Scheduler
	if !scheduler {
		others := slices.DeleteFunc(o.Workers, func(w assign.WorkerOverview) bool { return w.Instance == o.Scheduler })
		id = slices.MaxFunc(others, func(a, b assign.WorkerOverview) int { return cmp.Compare(a.Load, b.Load) }).Instance
	}
	i := slices.IndexFunc(c.processes, func(p *process) bool { return p.id == id })
	if i < 0 {
		return fmt.Errorf("%s takes part, and is not of this run: give another -namespace", id)
	}
	p, began := c.processes[i], time.Now()
	if err := p.cmd.Process.Kill(); err != nil { // SIGKILL
		return err
	}
	<-p.done
	if err := c.join(p.as); err != nil {
		return err
	}
	_, err = c.await(ctx, func(now assign.Overview) bool {
		return now.Ready && (now.Epoch > o.Epoch || !scheduler) && !slices.ContainsFunc(now.Workers,
			func(w assign.WorkerOverview) bool { return w.Instance == id })
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kills = append(c.kills, killing{id, scheduler, time.Since(began)})
	return err
}

// await asks the scheduler until it answers what is wanted.
func (c *cluster) await(ctx context.Context, want func(assign.Overview) bool) (assign.Overview, error) {
	for {
		o, err := assign.GetOverview(ctx, c.client)
		if err == nil && want(o) {
			return o, nil
		}
		if err := pause(ctx); err != nil {
			return o, err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(20 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// end has all of them end, and waits for that.
func (c *cluster) end() {
	for _, p := range c.processes {
		_ = p.stdin.Close() // it ends then
	}
	for _, p := range c.processes {
		<-p.done
	}
}

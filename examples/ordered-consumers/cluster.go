package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// A process says a word, a subject or its own name, a number, and the time.
const (
	leads  = "leads"  // so many partitions
	begins = "begins" // an order
	ends   = "ends"   // an order, which is stored
	again  = "again"  // an order was delivered that a former leader had stored
)

// say writes one line at once, so that a process has said all that it did before it is killed.
func say(word, subject string, n int) {
	_, _ = fmt.Fprintln(os.Stdout, word, subject, n, time.Now().UnixNano()) // nobody may read it any more
}

// saying is such a line.
type saying struct {
	process, word, subject string
	n                      int
	at                     int64
}

// account is the last token of the subject.
func (s saying) account() string { return s.subject[strings.LastIndex(s.subject, ".")+1:] }

// over is the word for a process that has ended.
const over = "over"

// process is one that takes part.
type process struct {
	name     string
	cmd      *exec.Cmd
	stdin    io.Closer
	done     chan struct{}
	leads    int
	handling string // the subject of the order in hand, "" for none
}

// cluster has the processes that take part.
type cluster struct {
	options   options
	mu        sync.Mutex
	processes []*process // that live
	said      []saying
	reached   map[string]int // the last order of each account that is stored
	started   int
}

// changes are what happened to the processes.
type changes struct {
	killed, handled string        // the process, and the subject of the order that it had in hand
	moved           time.Duration // from the kill until the others lead its partitions
	added           string
	took            time.Duration // from its start until it leads its share
	share           int
}

// change starts four processes, kills one in the middle of an order, and adds another one.
func (c *cluster) change(ctx context.Context) (ch changes, err error) {
	for range 4 {
		if _, err := c.start(); err != nil {
			return ch, err
		}
	}
	if err := c.await(ctx, c.even); err != nil {
		return ch, err
	}
	began := time.Now()
	if ch.killed, ch.handled, err = c.kill(ctx); err != nil {
		return ch, err
	}
	if err := c.await(ctx, c.even); err != nil {
		return ch, err
	}
	ch.moved, began = time.Since(began), time.Now()
	added, err := c.start()
	if err != nil {
		return ch, err
	}
	err = c.await(ctx, c.even)
	ch.added, ch.took, ch.share = added.name, time.Since(began), added.leads
	return ch, err
}

func (c *cluster) start() (*process, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c.started++
	p := &process{name: fmt.Sprint("consumer-", c.started), done: make(chan struct{})}
	p.cmd = exec.Command(program, "-as", p.name, "-nats", c.options.url)
	p.cmd.Stderr = os.Stderr
	stdin, inErr := p.cmd.StdinPipe()
	stdout, outErr := p.cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.stdin = stdin
	c.mu.Lock()
	c.processes = append(c.processes, p)
	c.mu.Unlock()
	go c.follow(p, stdout) // joined by end and by kill, through done
	return p, nil
}

// follow takes down what a process says, until it has ended.
func (c *cluster) follow(p *process, stdout io.Reader) {
	defer close(p.done)
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		s := saying{process: p.name}
		if _, err := fmt.Sscan(lines.Text(), &s.word, &s.subject, &s.n, &s.at); err != nil {
			continue // the last one of a killed process may be torn
		}
		c.mu.Lock()
		c.said = append(c.said, s)
		switch s.word {
		case leads:
			p.leads = s.n
		case begins:
			p.handling = s.subject
		case ends, again:
			p.handling = ""
			c.reached[s.account()] = s.n
		}
		c.mu.Unlock()
	}
	_ = p.cmd.Wait() // of a killed process: an error that says so
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = slices.DeleteFunc(c.processes, func(other *process) bool { return other == p })
	c.said = append(c.said, saying{process: p.name, word: over, at: time.Now().UnixNano()})
}

// kill kills a process that has an order in hand.
func (c *cluster) kill(ctx context.Context) (name, handled string, err error) {
	var p *process
	err = c.await(ctx, func() bool {
		i := slices.IndexFunc(c.processes, func(p *process) bool { return p.handling != "" })
		if i >= 0 {
			p = c.processes[i]
			_ = p.cmd.Process.Kill() // SIGKILL; an error says that it has ended
		}
		return i >= 0
	})
	if err != nil {
		return "", "", err
	}
	<-p.done
	return p.name, p.handling, nil
}

// even reports whether the processes lead all partitions, and each of them its share.
func (c *cluster) even() bool {
	sum := 0
	for _, p := range c.processes {
		sum += p.leads
		if p.leads < partitions/len(c.processes) {
			return false
		}
	}
	return sum == partitions
}

// await waits until something is true. It is asked under the lock.
func (c *cluster) await(ctx context.Context, is func() bool) error {
	for {
		c.mu.Lock()
		ok := is()
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// has reports whether the orders of each account are stored, up to a number.
func (c *cluster) has(accounts map[string]int) bool {
	for account, n := range accounts {
		if c.reached[account] < n {
			return false
		}
	}
	return true
}

// end has all of them end, and waits for that.
func (c *cluster) end() {
	c.mu.Lock()
	living := slices.Clone(c.processes)
	c.mu.Unlock()
	for _, p := range living {
		_ = p.stdin.Close() // it ends then
	}
	for _, p := range living {
		<-p.done
	}
}

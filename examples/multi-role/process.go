package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// errWorker says that the worker's process did not do what was asked of it.
var errWorker = errors.New("the worker's process")

// process is a worker in a process of its own: this program once more, with the one argument that makes it one. Its standard
// input tells it where to work, and holds it: it ends gracefully when that is closed, or when this process is no more.
type process struct {
	fated
	id      string
	command *exec.Cmd
	leash   io.Closer
	running atomic.Int32 // tasks, as it says

	complaint bytes.Buffer  // what it said of its failure
	done      chan struct{} // closed when it has ended
	err       error         // why it ended, if nobody wanted it to; read after done
}

// startProcess starts the worker of a cluster.
func startProcess(o options, url string) (*process, error) {
	p := &process{id: o.id + "-worker", done: make(chan struct{})}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	p.command = exec.Command(program, workerArgument)
	p.command.Stderr = &p.complaint
	in, inErr := p.command.StdinPipe()
	out, outErr := p.command.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	p.leash = in
	go p.follow(out) // joined by end
	config := workerConfig{URL: url, InstanceID: p.id, Bucket: o.bucket, Replicas: o.replicas, TTL: o.ttl}
	if err := json.NewEncoder(in).Encode(config); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", errWorker, err), p.kill())
	}
	return p, nil
}

// follow notes how many tasks it runs, until it has ended.
func (p *process) follow(out io.Reader) {
	defer close(p.done)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if n, err := strconv.Atoi(lines.Text()); err == nil {
			p.running.Store(int32(n))
		}
	}
	err := p.command.Wait()
	p.running.Store(0)
	if p.meet(gaveUp) || err != nil && p.is(stopped) {
		p.err = fmt.Errorf("%w has ended (%v): %s", errWorker, p.command.ProcessState, strings.TrimSpace(p.complaint.String()))
	}
}

// kill ends it as nothing inside it can prevent or notice (SIGKILL), and returns when it is no more.
func (p *process) kill() error {
	p.meet(killed)
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%w: kill it: %w", errWorker, err)
	}
	<-p.done
	return p.err
}

// end lets it end gracefully, if it has not ended yet, and kills it when that takes longer than patience.
func (p *process) end(patience time.Duration) error {
	p.meet(stopped)
	_ = p.leash.Close()
	select {
	case <-p.done:
		return p.err
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("%w has not ended within %v", errWorker, patience), p.kill())
	}
}

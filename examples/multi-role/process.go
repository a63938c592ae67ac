package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"
)

// errWorker says that the worker's process did not do what was asked of it.
var errWorker = errors.New("the worker's process")

// process is a worker in a process of its own: this program once more, with the one argument that makes it one. Its standard
// input tells it where to work, and holds it: it ends when that is closed, or when this process is no more.
type process struct {
	id      string
	fate    atomicFate
	command *exec.Cmd
	stdin   io.Closer
	stderr  bytes.Buffer
	done    chan struct{} // closed when it has ended
	err     error         // why it ended, if nobody wanted it to; read after done

	mu      sync.Mutex
	tasks   map[string]bool // that it runs
	started chan struct{}   // closed, and replaced, when it begins another
}

// startProcess starts the worker of a cluster. When it ends by itself, that is told to ended.
func startProcess(o options, url string, ended func(error)) (*process, error) {
	p := &process{id: o.id + "-worker", done: make(chan struct{}), tasks: map[string]bool{}, started: make(chan struct{})}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	p.command = exec.Command(program, workerArgument)
	p.command.Stderr = &p.stderr
	stdin, inErr := p.command.StdinPipe()
	stdout, outErr := p.command.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	p.stdin = stdin
	go p.follow(stdout, ended) // joined by end
	config := workerConfig{URL: url, InstanceID: p.id, Bucket: o.bucket, Replicas: o.replicas, TTL: o.ttl}
	_ = json.NewEncoder(stdin).Encode(config) // without it the process ends, and says so
	return p, nil
}

// follow notes which tasks it runs, until it has ended.
func (p *process) follow(stdout io.Reader, ended func(error)) {
	defer close(p.done)
	lines := json.NewDecoder(stdout)
	for line := (taskLine{}); lines.Decode(&line) == nil; {
		p.note(line)
	}
	err := p.command.Wait()
	byItself := p.fate.meet(gaveUp)
	if !byItself && (err == nil || !p.fate.is(stopped)) {
		return
	}
	p.err = fmt.Errorf("%w has ended: %v", errWorker, p.command.ProcessState)
	if said := bytes.TrimSpace(p.stderr.Bytes()); len(said) > 0 {
		p.err = fmt.Errorf("%w: %s", p.err, said)
	}
	if byItself {
		ended(p.err)
	}
}

func (p *process) note(line taskLine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !line.Running {
		delete(p.tasks, line.ID)
		return
	}
	p.tasks[line.ID] = true
	close(p.started)
	p.started = make(chan struct{})
}

// next is closed when it begins another task than those that it runs.
func (p *process) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.started
}

// load is how many it runs.
func (p *process) load() int {
	if !p.fate.is(alive) {
		return 0
	}
	return len(p.running())
}

// running are the ids of the tasks that it runs, or ran when it ended.
func (p *process) running() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.tasks))
}

// kill ends it as nothing inside it can prevent or notice (SIGKILL), and returns when it is no more.
func (p *process) kill() error {
	p.fate.meet(killed)
	if err := p.command.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%w: kill it: %w", errWorker, err)
	}
	<-p.done
	return nil
}

// end lets it end gracefully, if it has not ended yet, and kills it when that takes longer than patience.
func (p *process) end(patience time.Duration) error {
	_ = p.stdin.Close()
	if !p.fate.meet(stopped) {
		<-p.done
		return p.err
	}
	select {
	case <-p.done:
		return p.err
	case <-time.After(patience):
		_ = p.kill() // it says that it was
		return fmt.Errorf("%w has not ended within %v, and was killed", errWorker, patience)
	}
}

package stage

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
	"syscall"
	"time"
)

// errWorker begins the errors of the worker's process.
var errWorker = errors.New("the worker's process")

// workerProcess is the worker as the process that started it sees it: this program once more, with
// the argument that makes it a worker, below a guard. Its standard input tells it where to work,
// and holds it: it ends when that is closed, or when this process is gone.
type workerProcess struct {
	id      string
	state   atomicExitState
	command *exec.Cmd // the guard, which ends after the worker
	stdin   io.Closer
	stderr  bytes.Buffer
	done    chan struct{} // closed when it has ended
	err     error         // why it ended, if that was not wanted; to be read after done

	mu    sync.Mutex
	pid   int             // of the worker, 0 before it has said so
	tasks map[string]bool // that it runs
	began chan struct{}   // closed, and replaced, when it begins another task
}

// startWorker starts the worker of a cluster. It calls ended if the worker ends by itself.
func startWorker(o options, url string, ended func(error)) (*workerProcess, error) {
	p := &workerProcess{
		id: o.id + "-worker", done: make(chan struct{}), tasks: map[string]bool{}, began: make(chan struct{}),
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errWorker, err)
	}
	p.command = exec.Command(program, guardArgument, url)
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
	config := workerConfig{URL: url, ID: p.id, Bucket: o.bucket, Replicas: o.replicas, TTL: o.ttl}
	_ = json.NewEncoder(stdin).Encode(config) // without it the process ends, and reports that
	return p, nil
}

// follow keeps track of the tasks that the worker runs, until it has ended.
func (p *workerProcess) follow(stdout io.Reader, ended func(error)) {
	defer close(p.done)
	lines := json.NewDecoder(stdout)
	for line := (attemptLine{}); lines.Decode(&line) == nil; {
		p.note(line)
	}
	err := p.command.Wait()
	byItself := p.state.set(gaveUp)
	if !byItself && (err == nil || !p.state.is(stopped)) {
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

func (p *workerProcess) note(line attemptLine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if line.PID != 0 {
		p.pid = line.PID
		return
	}
	if !line.Running {
		delete(p.tasks, line.ID)
		return
	}
	p.tasks[line.ID] = true
	close(p.began)
	p.began = make(chan struct{})
}

// next is closed when the worker begins another task.
func (p *workerProcess) next() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.began
}

// load is how many tasks the worker runs.
func (p *workerProcess) load() int {
	if !p.state.is(alive) {
		return 0
	}
	return len(p.running())
}

// running are the ids of the tasks that the worker runs, or ran when it ended.
func (p *workerProcess) running() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Sorted(maps.Keys(p.tasks))
}

// kill ends the process with SIGKILL, which it can neither prevent nor notice, and returns when it
// and its guard are gone.
func (p *workerProcess) kill() error {
	p.state.set(killed)
	worker, err := p.process()
	if err == nil {
		err = worker.Kill()
	}
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%w: kill it: %w", errWorker, err)
	}
	<-p.done
	return nil
}

// guarded reports, after kill, whether the guard has ended the session of the worker. The guard
// then has the exit code of a killed process, and another one if it could not.
func (p *workerProcess) guarded() bool {
	return p.command.ProcessState.ExitCode() == 128+int(syscall.SIGKILL)
}

// process is that of the worker, or the guard if the worker has said nothing yet.
func (p *workerProcess) process() (*os.Process, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pid == 0 {
		return p.command.Process, nil
	}
	return os.FindProcess(p.pid)
}

// end lets the worker end gracefully, if it has not ended yet, and kills it when that takes longer
// than limit.
func (p *workerProcess) end(limit time.Duration) error {
	_ = p.stdin.Close()
	if !p.state.set(stopped) {
		<-p.done
		return p.err
	}
	select {
	case <-p.done:
		return p.err
	case <-time.After(limit):
		_ = p.kill() // the error below says it all
		return fmt.Errorf("%w has not ended within %v, and was killed", errWorker, limit)
	}
}

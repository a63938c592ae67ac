package natsrun

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/nats-io/nats.go"
)

// Process is a real server in a process of its own. It dies as one, with everything that it had not
// written, and its wall clock can differ. The program that it runs calls Serve.
//
// Kill, Restart, Step and Shutdown are for one goroutine at a time.
type Process struct {
	program []string
	opts    served
	front   *Proxy // the path of all clients: it keeps its address, and the server takes any port

	cmd     *exec.Cmd
	in      io.WriteCloser
	answers *bufio.Scanner

	links links
}

// StartProcess starts a program that calls Serve, and waits until the server takes connections.
// Only the options StoreDir and SyncAlways count; StoreDir is required. Shutdown ends the process.
func StartProcess(program []string, opts Options) (*Process, error) {
	if opts.StoreDir == "" {
		return nil, errors.New("natsrun: a server of its own needs a StoreDir")
	}
	return startProcess(program, served{StoreDir: opts.StoreDir, SyncAlways: opts.SyncAlways})
}

func startProcess(program []string, opts served) (*Process, error) {
	front, err := NewProxy("")
	if err != nil {
		return nil, err
	}
	opts.Advertise = front.Addr()
	p := &Process{program: program, opts: opts, front: front}
	if err := p.start(); err != nil {
		front.Close()
		return nil, err
	}
	return p, nil
}

func (p *Process) start() error {
	options, err := json.Marshal(p.opts)
	if err != nil {
		return err
	}
	p.cmd = exec.Command(p.program[0], p.program[1:]...)
	p.cmd.Env = append(os.Environ(), serveKey+"="+string(options))
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return fmt.Errorf("natsrun: start server process: %w", err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("natsrun: start server process: %w", err)
	}
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("natsrun: start server process: %w", err)
	}
	p.answers = bufio.NewScanner(out)
	var port int64
	if port, err = p.answer("ready"); err != nil {
		_ = p.Kill() // it is of no use
		return err
	}
	p.front.Retarget(fmt.Sprintf("127.0.0.1:%d", port))
	return nil
}

// ask makes the process carry out a line, and returns the number in its answer.
func (p *Process) ask(line, to string) (n int64, err error) {
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		return 0, fmt.Errorf("natsrun: tell the server's process %q: %w", line, err)
	}
	return p.answer(to)
}

// answer is the number in the next line of the process.
func (p *Process) answer(to string) (n int64, err error) {
	if !p.answers.Scan() {
		return 0, fmt.Errorf("natsrun: the server's process has ended instead of saying %q: %v", to, p.answers.Err())
	}
	if _, err := fmt.Sscanf(p.answers.Text(), to+" %d", &n); err != nil {
		return 0, fmt.Errorf("natsrun: the server's process says %q instead of %q: %w", p.answers.Text(), to, err)
	}
	return n, nil
}

// Step moves the server's wall clock, in whole seconds, and returns how far it is ahead of this
// process's own. Time passes at its normal pace: no timer of the server is early or late because of
// the step.
func (p *Process) Step(d time.Duration) (ahead time.Duration, err error) {
	now, err := p.ask(fmt.Sprint("step ", d), "now")
	return time.Duration(now - time.Now().UnixNano()), err
}

// Kill ends the process without warning. Restart brings it back.
func (p *Process) Kill() error {
	p.front.Retarget("") // first: another process may be given its port
	if p.cmd == nil {
		return nil
	}
	err := p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed
	p.cmd = nil
	return err
}

// Restart kills the process, if it runs, and starts it again on the same store and address.
func (p *Process) Restart() error {
	if err := p.Kill(); err != nil {
		return err
	}
	return p.start()
}

// Shutdown lets the server end, and closes the links that it made. The store stays.
func (p *Process) Shutdown() error {
	defer p.front.Close()
	p.links.close()
	p.front.Retarget("")
	if p.cmd == nil {
		return nil
	}
	err := p.in.Close()
	for p.answers.Scan() { // until the process has ended, which closes it
	}
	if ended := p.cmd.Wait(); ended != nil {
		err = errors.Join(err, fmt.Errorf("natsrun: the server's process ended with %w", ended))
	}
	p.cmd = nil
	return err
}

// StoreDir is the directory of JetStream's files.
func (p *Process) StoreDir() string { return p.opts.StoreDir }

// URL is where clients connect. It stays the same while the server is down.
func (p *Process) URL() string { return "nats://" + p.front.Addr() }

// Connect returns a connection to the server.
func (p *Process) Connect(opts ...nats.Option) (*nats.Conn, error) { return connect(p.URL(), opts...) }

// Link returns a new path to the server, closed by Shutdown.
func (p *Process) Link() *Link { return p.links.addTCP() }

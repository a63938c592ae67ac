package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// external is a program of the system that runs in the foreground as a child of this one.
type external struct {
	cmd     *exec.Cmd
	address string
	dir     string
	gone    chan struct{}
}

// run starts a program and waits until its port answers. cred is who it runs as, nil for this user.
func run(dir, address string, cred *syscall.Credential, program string, args ...string) (*external, error) {
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the program has its own handle of it
	x := &external{cmd: exec.Command(program, args...), address: address, dir: dir, gone: make(chan struct{})}
	x.cmd.Stdout, x.cmd.Stderr, x.cmd.Dir = log, log, dir
	// It is killed with this process: a server that nobody asks anything is left nowhere.
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred, Pdeathsig: syscall.SIGKILL}
	if err := x.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = x.cmd.Wait() // it is told to end
		close(x.gone)
	}()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); {
		select {
		case <-x.gone:
			text, _ := os.ReadFile(filepath.Join(dir, "log"))
			return nil, fmt.Errorf("%s has ended: %s", program, text)
		case <-time.After(20 * time.Millisecond):
		}
		if nc, err := net.Dial("tcp", address); err == nil {
			return x, nc.Close()
		}
	}
	x.Close()
	return nil, fmt.Errorf("%s does not answer at %s", program, address)
}

// freeAddr is an address that nobody listens on.
func freeAddr() (address, port string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", "", err
	}
	address = l.Addr().String()
	_, port, err = net.SplitHostPort(address)
	return address, port, errors.Join(err, l.Close())
}

func (x *external) Addr() string { return x.address }

func (x *external) Traffic(context.Context) (Traffic, error) {
	return Traffic{}, errors.ErrUnsupported
}

func (x *external) CPU(context.Context) (time.Duration, error) { return 0, errors.ErrUnsupported }

func (x *external) Close() {
	_ = x.cmd.Process.Signal(syscall.SIGINT) // what both programs take for: at once, but in order
	select {
	case <-x.gone:
	case <-time.After(10 * time.Second):
		_ = x.cmd.Process.Kill()
		<-x.gone
	}
	_ = os.RemoveAll(x.dir)
}

package live_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sys/unix"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/guard"
)

// The first makes this binary a guard of a process that the second makes it then.
const (
	guardURL    = "ROLEMANAGER_GUARD_URL"
	guardedURL  = "ROLEMANAGER_GUARDED_URL"
	guardedRole = "ROLEMANAGER_GUARDED_ROLE"
	guardedEnd  = "ROLEMANAGER_GUARDED_END"
	guardedLock = "ROLEMANAGER_GUARDED_LOCK"
)

// guardedTTL is so long that nobody leads after a crash within a test, but by a guard.
const guardedTTL = time.Minute

// guardian guards this very binary, and says what has become of its sessions.
func guardian(url string) int {
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer nc.Close()
	cmd := exec.Command(os.Args[0])
	os.Unsetenv(guardURL)
	cmd.Env = append(os.Environ(), guardedURL+"="+url)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	r, err := guard.Run(context.Background(), guard.Config{Conn: nc, StopTimeout: 100 * time.Millisecond}, cmd)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for _, s := range r.Killed {
		fmt.Println("killed", s.Instance, s.Took.Microseconds())
	}
	for _, s := range r.Left {
		fmt.Println("left", s.Instance, s.Err)
	}
	fmt.Println("code", r.Code)
	return 0
}

// guardedChild leads a role, and ends in the way that it is asked for, when it is told to.
func guardedChild(url string) error {
	if os.Getenv(forks) != "" {
		return forkAndEnd()
	}
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return err
	}
	name := os.Getenv(guardedRole)
	s, err := election.NewSession(election.SessionConfig{Bucket: "roles", InstanceID: "guarded-" + name, TTL: guardedTTL})
	if err != nil {
		return err
	}
	e, err := s.Campaign(election.RoleConfig{Role: name, Lead: func(ctx context.Context, t *election.Term) error {
		if err := lockFor(os.Getenv(guardedEnd) == "grandchild"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("leads", t.Epoch(), os.Getpid())
		<-ctx.Done()
		return nil
	}})
	if err != nil {
		return err
	}
	if err := s.Open(context.Background(), nc); err != nil {
		return err
	}
	if err := e.Start(context.Background()); err != nil {
		return err
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	told := make(chan struct{})
	go func() {
		defer close(told)
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	}()
	select {
	case <-stop:
		return s.Close(context.Background())
	case <-told:
	}
	return endBy(os.Getenv(guardedEnd))
}

// endBy ends this process, and does not close its session.
func endBy(how string) error {
	switch how {
	case "abort":
		return unix.Kill(os.Getpid(), unix.SIGABRT)
	case "exit":
		os.Exit(3)
	case "panic":
		debug.SetTraceback("none")
		panic("as it shall")
	case "out of memory":
		if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: 1 << 28, Max: 1 << 28}); err != nil {
			return err
		}
		for all := [][]byte{}; ; {
			all = append(all, make([]byte, 1<<26))
			fmt.Fprintln(os.Stderr, len(all))
		}
	case "exec":
		return syscall.Exec("/bin/sleep", []string{"sleep", "0.3"}, nil)
	case "main thread":
		go func() {
			fmt.Println("main")
			_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
			os.Exit(5)
		}()
		_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0) // of this thread alone
	case "closed":
		closeSockets()
		fmt.Println("closed")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		os.Exit(4)
	}
	return unix.Kill(os.Getpid(), unix.SIGKILL)
}

// The main goroutine stays in the main thread where that thread shall end.
func init() {
	if os.Getenv(guardedEnd) == "main thread" {
		runtime.LockOSThread()
	}
}

// dialGuard connects to the socket of a guard.
func dialGuard(path string) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), unix.Connect(fd, &unix.SockaddrUnix{Name: path})
}

// closeSockets closes the line to the guard, and the connection.
func closeSockets() {
	for fd := 3; fd < 256; fd++ {
		var is unix.Stat_t
		if unix.Fstat(fd, &is) == nil && is.Mode&unix.S_IFMT == unix.S_IFSOCK {
			_ = unix.Close(fd)
		}
	}
}

// lockFor takes the file that stands for a resource. A grandchild holds it in a session of its own,
// and ignores TERM.
func lockFor(grandchild bool) error {
	path := os.Getenv(guardedLock)
	if !grandchild {
		_, err := lockFile(path)
		return err
	}
	cmd := exec.Command("setsid", "--fork", "flock", "--nonblock", path, "sh", "-c",
		`trap "" TERM; echo held > "$0.held"; while :; do sleep 0.05; done`, path)
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return err
	}
	for range 2000 {
		if _, err := os.Stat(path + ".held"); err == nil {
			return nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return fmt.Errorf("nobody holds %s", path)
}

// lockFile takes a file that nobody else may have, and keeps it open.
func lockFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("the resource of %s has somebody else: %w", strconv.Quote(path), err)
	}
	held = append(held, f)
	return f, nil
}

var held []*os.File // a file that is collected is closed

package controllerruntime

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// These make this binary an operator: its instance, the address of NATS, and a folder of files that
// it locks while its runnable runs.
const (
	operatorName  = "ROLEMANAGER_OPERATOR"
	operatorURL   = "ROLEMANAGER_OPERATOR_URL"
	operatorFiles = "ROLEMANAGER_OPERATOR_FILES"
)

// operate is the program of an operator. SIGUSR1 cuts its link to NATS.
func operate(name string) error {
	link := natsrun.NewLink(&net.Dialer{})
	m, err := roles.New(roles.Config{
		URL: os.Getenv(operatorURL), NATSOptions: link.Options(), Bucket: "roles", BucketAutoCreate: true,
		InstanceID: name, TTL: time.Second, DrainTimeout: 10 * time.Second,
	})
	if err != nil {
		return err
	}
	lock, err := NewLock(m.Session(), LockConfig{
		Role: "operator", RenewDeadline: 100 * time.Millisecond, RetryPeriod: 10 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	o := options()
	grace := time.Millisecond // the manager does not wait for its runnable
	o.GracefulShutdownTimeout = &grace
	mgr, err := NewManager(nowhere, lock, o)
	if err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return exclusive(ctx, name) })); err != nil {
		return err
	}
	if err := m.Add(roles.Role{Name: "operator", Lead: lock.Lead}); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	cuts := make(chan os.Signal, 1)
	signal.Notify(cuts, syscall.SIGUSR1)
	go func() {
		<-cuts
		link.Cut()
	}()
	serving, leave := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = m.Run(serving) // of a process that is cut off: that its link is closed
	}()
	err = mgr.Start(ctx)
	if errors.Is(err, ErrLost) || errors.Is(err, context.DeadlineExceeded) {
		err = nil // the second is that of the manager, which did not wait
	}
	leave()
	<-over
	return err
}

// exclusive holds the lock of all operators and that of its own, until some time after ctx ends.
func exclusive(ctx context.Context, name string) error {
	for _, file := range []string{"all", name} {
		f, err := os.OpenFile(filepath.Join(os.Getenv(operatorFiles), file), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			fmt.Println("another runnable runs", err)
			return err
		}
	}
	fmt.Println("runs")
	<-ctx.Done()
	time.Sleep(50 * time.Millisecond)
	return nil
}

// operator is a process, and what it says.
type operator struct {
	cmd  *exec.Cmd
	name string
	says chan string // each line, closed at the end
}

func operating(t *testing.T, s *natsrun.Server, dir, name string) *operator {
	t.Helper()
	o := &operator{cmd: exec.Command(os.Args[0]), name: name, says: make(chan string, 10)} // few lines, read late
	o.cmd.Env = append(os.Environ(), operatorName+"="+name, operatorURL+"="+s.URL(), operatorFiles+"="+dir)
	o.cmd.Stderr = os.Stderr
	out, err := o.cmd.StdoutPipe()
	if err == nil {
		err = o.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(o.says)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			o.says <- lines.Text()
		}
	}()
	t.Cleanup(func() { _ = o.cmd.Process.Kill() })
	return o
}

// free reports whether the runnable of an operator does not run.
func free(dir, name string) bool {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		return os.IsNotExist(err)
	}
	defer func() { _ = f.Close() }()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB) == nil
}

// TestProcesses: managers in processes of their own. The one that leads is killed, stopped or cut
// off. Its runnable runs no more when an observer sees that it leads no more, and never do two run.
//
//	go test -run TestProcesses -rounds 200
func TestProcesses(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	dir := t.TempDir()
	started := 0
	start := func() *operator {
		started++
		return operating(t, s, dir, fmt.Sprint("operator-", started))
	}
	all := []*operator{start(), start()}
	var mu sync.Mutex
	leads := ""
	ended := make(chan string, 1000) // by an observer, which cannot wait
	sink := event.SinkFunc(func(e event.Event) {
		if e, ok := e.(event.LeaderChanged); ok {
			mu.Lock()
			defer mu.Unlock()
			if leads != "" && e.Leader != leads {
				if !free(dir, leads) {
					t.Errorf("the runnable of %s ran when its term had ended", leads)
				}
				ended <- leads
			}
			leads = e.Leader
		}
	})
	nc := natstest.Connect(t, s)
	natstest.Eventually(t, "the bucket is there", 20*time.Second, func() (bool, string) {
		o, err := election.Observe(t.Context(), nc, "roles", election.WithSinks(sink))
		if err != nil {
			return false, err.Error()
		}
		t.Cleanup(o.Close)
		return true, ""
	})
	draw := rand.New(rand.NewPCG(3, 4))
	for round := range *rounds {
		i := 0
		select {
		case line := <-all[0].says:
			runs(t, line)
		case line := <-all[1].says:
			i = 1
			runs(t, line)
		case <-time.After(30 * time.Second):
			t.Fatalf("round %d: no runnable runs", round)
		}
		p := all[i]
		how := []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGUSR1}[(round+draw.IntN(2))%3]
		if err := p.cmd.Process.Signal(how); err != nil {
			t.Fatal(err)
		}
		for line := range p.says {
			t.Errorf("%s says: %s", p.name, line)
		}
		if err := p.cmd.Wait(); err != nil && how != syscall.SIGKILL {
			t.Errorf("%s ended with %v after %v", p.name, err, how)
		}
		for over := time.After(30 * time.Second); ; {
			select {
			case name := <-ended:
				if name != p.name {
					continue // it led before its caches were warm, and gave the role up
				}
			case <-over:
				t.Fatalf("round %d: the term of %s was not seen to end after %v", round, p.name, how)
			}
			break
		}
		all[i] = start()
	}
}

func runs(t *testing.T, line string) {
	t.Helper()
	if !strings.HasPrefix(line, "runs") {
		t.Errorf("an operator says %q", line)
	}
}

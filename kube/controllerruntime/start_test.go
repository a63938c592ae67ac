package controllerruntime

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

var rounds = flag.Int("rounds", 6, "terms that TestStart ends")

// pair is a manager of roles and a manager of controllers in one process, with a link of its own.
type pair struct {
	link *natsrun.Link
	m    *roles.Manager
	end  context.CancelFunc // of both
	done chan error         // how Start has ended
	over chan struct{}      // closed when the manager of roles has ended
}

// working counts the runnables that run in all processes.
type working struct {
	now, most atomic.Int32
	runs      atomic.Int32
}

// Start is a runnable that takes its time to stop.
func (w *working) Start(ctx context.Context) error {
	w.most.Store(max(w.most.Load(), w.now.Add(1)))
	defer w.now.Add(-1)
	w.runs.Add(1)
	<-ctx.Done()
	time.Sleep(30 * time.Millisecond)
	return nil
}

func newManager(t *testing.T, lock *Lock, retry time.Duration) manager.Manager {
	t.Helper()
	forever := time.Duration(-1)
	renew, lease := 10*retry, 20*retry
	o := manager.Options{
		Metrics: server.Options{BindAddress: "0"}, GracefulShutdownTimeout: &forever,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return meta.NewDefaultRESTMapper(nil), nil
		},
	}
	if lock != nil {
		o.LeaderElection, o.LeaderElectionResourceLockInterface = true, lock
		o.RetryPeriod, o.RenewDeadline, o.LeaseDuration = &retry, &renew, &lease
	}
	mgr, err := manager.New(&rest.Config{Host: "http://127.0.0.1:1"}, o) // no cache asks for anything
	if err != nil {
		t.Fatal(err)
	}
	return mgr
}

// process starts a pair. early counts the roles that it has given away while its runnable ran.
func process(t *testing.T, s *natsrun.Server, name string, w *working, early *atomic.Int32) *pair {
	t.Helper()
	var own atomic.Int32 // runnables of this process
	vacated := func(e event.Event) {
		if v, ok := e.(event.RoleVacant); ok && v.By == name && own.Load() > 0 {
			early.Add(1)
		}
	}
	p := &pair{link: s.Link(), done: make(chan error, 1), over: make(chan struct{})}
	m, err := roles.New(roles.Config{
		URL: s.URL(), NATSOptions: p.link.Options(), Bucket: "roles", BucketAutoCreate: true, InstanceID: name,
		TTL: time.Second, DrainTimeout: 10 * time.Second, Sinks: []event.Sink{event.SinkFunc(vacated)},
	})
	if err != nil {
		t.Fatal(err)
	}
	p.m = m
	retry := 10 * time.Millisecond
	lock, err := NewLock(m.Session(), LockConfig{Role: "operator", RenewDeadline: 10 * retry, RetryPeriod: retry})
	if err != nil {
		t.Fatal(err)
	}
	mgr := newManager(t, lock, retry)
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		own.Add(1)
		defer own.Add(-1)
		return w.Start(ctx)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(roles.Role{Name: "operator", Lead: lock.Lead}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	go func() {
		defer close(p.over)
		_ = m.Run(ctx) // of a process that is cut off: that its link is closed
	}()
	go func() { p.done <- Start(ctx, mgr, lock) }()
	return p
}

func (p *pair) leads() bool {
	e, ok := p.m.Election("operator")
	return ok && e.IsLeader()
}

// TestStart: real managers of controller-runtime, of which one leads. Its term ends by a step-down,
// by a stop of the process, or by a cut link. Never do the runnables of two managers run, and they
// have returned when the role is vacated.
//
//	go test -run TestStart -rounds 200
func TestStart(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	var w working
	var early atomic.Int32
	started := 0
	start := func() *pair {
		started++
		return process(t, s, fmt.Sprint("operator-", started), &w, &early)
	}
	all := []*pair{start(), start()}
	stop := func(p *pair) {
		p.end()
		<-p.done
		<-p.over
	}
	defer func() {
		for _, p := range all {
			stop(p)
		}
	}()
	draw := rand.New(rand.NewPCG(1, 2))
	for round := range *rounds {
		before := w.runs.Load()
		var leads int
		natstest.Eventually(t, "runnables run", 20*time.Second, func() (bool, string) {
			for i, p := range all {
				if p.leads() && w.now.Load() == 1 {
					leads = i
					return true, ""
				}
			}
			return false, fmt.Sprint("round ", round, ", runs ", before)
		})
		p := all[leads]
		switch draw.IntN(3) {
		case 0:
			e, _ := p.m.Election("operator")
			if err := e.StepDown(t.Context()); err != nil && !errors.Is(err, election.ErrNotLeader) {
				t.Fatal(err)
			}
			if err := <-p.done; !errors.Is(err, ErrLost) {
				t.Errorf("after a step-down: %v", err)
			}
			p.done <- nil
		case 1: // it stops as by SIGTERM
		case 2:
			p.link.Cut()
			if err := <-p.done; !errors.Is(err, ErrLost) {
				t.Errorf("after a cut link: %v", err)
			}
			p.done <- nil
			p.link.Heal()
		}
		stop(p)
		all[leads] = start()
	}
	if n := w.most.Load(); n != 1 {
		t.Errorf("the runnables of %d managers ran at once", n)
	}
	if n := early.Load(); n > 0 {
		t.Errorf("%d roles were vacated while runnables ran", n)
	}
}

// TestRunnable: two controllers of one manager are led apart, and each is built for each term.
func TestRunnable(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	m, err := roles.New(roles.Config{
		URL: s.URL(), Bucket: "roles", BucketAutoCreate: true, TTL: time.Second, CoolDown: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	mgr := newManager(t, nil, time.Second)
	var red, blue working
	for name, w := range map[string]*working{"red": &red, "blue": &blue} {
		build := func() (manager.Runnable, error) { return manager.RunnableFunc(w.Start), nil }
		r := Runnable(m, roles.Role{Name: name}, build)
		if err := mgr.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended, over := make(chan error, 1), make(chan error, 1)
	serving, leave := context.WithCancel(context.Background())
	go func() { over <- m.Run(serving) }()
	go func() { ended <- mgr.Start(ctx) }()
	runs := func(w *working, n int32) {
		t.Helper()
		natstest.Eventually(t, "a runnable runs", 20*time.Second, func() (bool, string) {
			return w.now.Load() == 1 && w.runs.Load() == n, fmt.Sprint(w.now.Load(), w.runs.Load())
		})
	}
	runs(&red, 1)
	runs(&blue, 1)
	e, _ := m.Election("red")
	if err := e.StepDown(t.Context()); err != nil {
		t.Fatal(err)
	}
	runs(&red, 2)
	if n := blue.runs.Load(); n != 1 {
		t.Errorf("the other controller was started %d times", n)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if red.now.Load()+blue.now.Load() > 0 {
		t.Error("the manager has stopped, and its controllers have not")
	}
	leave()
	if err := <-over; err != nil {
		t.Error(err)
	}
}

package controllerruntime

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
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
	link  *natsrun.Link
	m     *roles.Manager
	lock  *Lock
	start func()
	end   context.CancelFunc // of both
	done  chan error         // how Start has ended
	over  chan struct{}      // closed when the manager of roles has ended

	watch func(event.Event) // of an observer
	seen  atomic.Int32      // how often the observer saw that this process no longer led
}

// working counts the runnables that run in all processes.
type working struct {
	now, most atomic.Int32
	runs      atomic.Int32
	stops     time.Duration // how long they take to stop
}

// Start is a runnable that takes its time to stop.
func (w *working) Start(ctx context.Context) error {
	w.most.Store(max(w.most.Load(), w.now.Add(1)))
	defer w.now.Add(-1)
	w.runs.Add(1)
	<-ctx.Done()
	time.Sleep(w.stops)
	return nil
}

// options are those of a manager that asks no API server for anything, and serves nothing.
func options() manager.Options {
	return manager.Options{
		Metrics: server.Options{BindAddress: "0"},
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) {
			return meta.NewDefaultRESTMapper(nil), nil
		},
	}
}

var nowhere = &rest.Config{Host: "http://127.0.0.1:1"}

// process makes a pair. early counts the roles that it has given away while its runnable ran, as
// its own Lead and an observer of the bucket see it.
func process(t *testing.T, s *natsrun.Server, name string, w *working, early *atomic.Int32, o manager.Options) *pair {
	t.Helper()
	var own atomic.Int32 // runnables of this process
	while := func() {
		if own.Load() > 0 {
			early.Add(1)
		}
	}
	p := &pair{link: s.Link(), done: make(chan error, 1), over: make(chan struct{})}
	m, err := roles.New(roles.Config{
		URL: s.URL(), NATSOptions: p.link.Options(), Bucket: "roles", BucketAutoCreate: true, InstanceID: name,
		TTL: time.Second, DrainTimeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.m = m
	retry := 10 * time.Millisecond
	p.lock, err = NewLock(m.Session(), LockConfig{Role: "operator", RenewDeadline: 10 * retry, RetryPeriod: retry})
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := NewManager(nowhere, p.lock, o)
	if err != nil {
		t.Fatal(err)
	}
	err = mgr.Add(manager.RunnableFunc(func(ctx context.Context) error {
		own.Add(1)
		defer own.Add(-1)
		return w.Start(ctx)
	}))
	if err != nil {
		t.Fatal(err)
	}
	lead := func(ctx context.Context, term *election.Term) error {
		defer while() // the role is given away when Lead has returned
		return p.lock.Lead(ctx, term)
	}
	if err := m.Add(roles.Role{Name: "operator", Lead: lead}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	p.start = func() {
		go func() {
			defer close(p.over)
			_ = m.Run(ctx) // of a process that is cut off: that its link is closed
		}()
		go func() { p.done <- Start(ctx, mgr, p.lock) }()
	}
	led := false
	p.watch = func(e event.Event) {
		switch e, ok := e.(event.LeaderChanged); {
		case !ok:
		case e.Leader == name:
			led = true
		case led:
			led = false
			while()
			p.seen.Add(1)
		}
	}
	return p
}

// ended is how Start has ended, once it has.
func (p *pair) ended() error {
	err := <-p.done
	p.done <- err
	return err
}

func (p *pair) leads() bool {
	e, ok := p.m.Election("operator")
	return ok && e.IsLeader()
}

// observe brings what an observer of the bucket sees to the pairs. It returns when the bucket is
// there and the observer watches it.
func observe(t *testing.T, s *natsrun.Server, all *sync.Map) {
	t.Helper()
	nc := natstest.Connect(t, s)
	sink := event.SinkFunc(func(e event.Event) {
		all.Range(func(_, p any) bool {
			p.(*pair).watch(e)
			return true
		})
	})
	natstest.Eventually(t, "the bucket is there", 20*time.Second, func() (bool, string) {
		o, err := election.Observe(t.Context(), nc, "roles", election.WithSinks(sink))
		if err != nil {
			return false, err.Error()
		}
		t.Cleanup(o.Close)
		return true, ""
	})
}

// TestStart: real managers of controller-runtime, of which one leads. Its term ends by a step-down,
// by a stop of the process, or by a cut link. Never do the runnables of two managers run, and they
// have returned when the role is vacated.
//
//	go test -run TestStart -rounds 200
func TestStart(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	w := working{stops: 30 * time.Millisecond}
	var early atomic.Int32
	var everyone sync.Map
	started := 0
	start := func() *pair {
		started++
		name := fmt.Sprint("operator-", started)
		p := process(t, s, name, &w, &early, options())
		everyone.Store(name, p)
		p.start()
		return p
	}
	all := []*pair{start(), start()}
	observe(t, s, &everyone)
	stop := func(p *pair) {
		p.end()
		_ = p.ended()
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
			if err := p.ended(); !errors.Is(err, ErrLost) {
				t.Errorf("after a step-down: %v", err)
			}
		case 1: // it stops as by SIGTERM
		case 2:
			p.link.Cut()
			if err := p.ended(); !errors.Is(err, ErrLost) {
				t.Errorf("after a cut link: %v", err)
			}
			p.link.Heal()
		}
		stop(p)
		natstest.Eventually(t, "the end of the term is seen", 20*time.Second, func() (bool, string) {
			return p.seen.Load() > 0, fmt.Sprint("round ", round)
		})
		all[leads] = start()
	}
	if n := w.most.Load(); n != 1 {
		t.Errorf("the runnables of %d managers ran at once", n)
	}
	if n := early.Load(); n > 0 {
		t.Errorf("%d roles were vacated while runnables ran", n)
	}
}

// TestImpatient: a manager that returns before its runnables do, since its time to stop is over or
// its elector has lost, does not give the role away before them.
func TestImpatient(t *testing.T) {
	for name, grace := range map[string]time.Duration{"at once": 0, "soon": time.Millisecond, "never": -1} {
		for how, stop := range map[string]func(*pair){
			"stepped down": func(p *pair) {
				e, _ := p.m.Election("operator")
				if err := e.StepDown(t.Context()); err != nil {
					t.Error(err)
				}
			},
			"lost by the elector": func(p *pair) { // as in a process that stood still
				p.lock.mu.Lock()
				p.lock.term = nil
				p.lock.mu.Unlock()
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				s := natstest.Server(t, natstest.Listen)
				w := working{stops: 500 * time.Millisecond}
				var early atomic.Int32
				o := options()
				o.GracefulShutdownTimeout = &grace
				p := process(t, s, "operator", &w, &early, o)
				p.start()
				natstest.Eventually(t, "a runnable runs", 20*time.Second, func() (bool, string) {
					return w.now.Load() == 1, ""
				})
				stop(p)
				if err := p.ended(); !errors.Is(err, ErrLost) {
					t.Errorf("the manager has ended with %v", err)
				}
				if n := w.now.Load(); n > 0 {
					t.Errorf("Start has returned while %d runnables run", n)
				}
				p.end()
				<-p.over
				if early.Load() > 0 {
					t.Error("the role was given away while a runnable ran")
				}
			})
		}
	}
}

// TestOtherManager: Start refuses a manager whose runnables it does not know.
func TestOtherManager(t *testing.T) {
	mgr, err := manager.New(nowhere, options())
	if err != nil {
		t.Fatal(err)
	}
	if err := Start(t.Context(), mgr, &Lock{}); !errors.Is(err, ErrManager) {
		t.Error(err)
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
	mgr, err := manager.New(nowhere, options())
	if err != nil {
		t.Fatal(err)
	}
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

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// candidate is a lock of one process, and how to keep that process from everything.
type candidate struct {
	lock resourcelock.Interface
	cut  func()
}

// TestElector: client-go's own LeaderElector acquires, renews, loses and releases on a Lock as on a
// LeaseLock: on that of client-go's fake, and on that of a real API server if there is one.
func TestElector(t *testing.T) {
	t.Run("Lock", func(t *testing.T) { testElector(t, onRole(t)) })
	t.Run("LeaseLock", func(t *testing.T) { testElector(t, onLease()) })
	t.Run("RealLeaseLock", func(t *testing.T) { testElector(t, onRealLease(t)) })
}

func testElector(t *testing.T, join func(name string) candidate) {
	var leading, most atomic.Int32
	type run struct {
		candidate
		leads atomic.Bool
		ended chan struct{}
		stop  context.CancelFunc
	}
	start := func(name string) *run {
		r := &run{candidate: join(name), ended: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		r.stop = cancel
		e, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: r.lock, LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 100 * time.Millisecond,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) {
					most.Store(max(most.Load(), leading.Add(1)))
					r.leads.Store(true)
				},
				OnStoppedLeading: func() {
					if r.leads.Swap(false) {
						leading.Add(-1)
					}
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			defer close(r.ended)
			e.Run(ctx)
		}()
		t.Cleanup(func() {
			cancel()
			<-r.ended
		})
		return r
	}
	until := func(what string, r *run, leads bool) {
		t.Helper()
		natstest.Eventually(t, what, 30*time.Second, func() (bool, string) {
			return r.leads.Load() == leads, fmt.Sprint(r.leads.Load())
		})
	}
	first := start("first")
	until("the first acquires", first, true)
	second := start("second")
	held, err := time.Now(), error(nil)
	natstest.Eventually(t, "the lease was renewed for longer than it lasts", 30*time.Second, func() (bool, string) {
		return time.Since(held) > 3*time.Second, ""
	})
	if !first.leads.Load() || second.leads.Load() {
		t.Error("the first did not renew")
	}
	record, _, err := second.lock.Get(t.Context())
	if err != nil || record.HolderIdentity != first.lock.Identity() {
		t.Errorf("the second sees %+v, %v", record, err)
	}
	first.stop() // it releases
	until("the second acquires what was released", second, true)
	<-first.ended
	third := start("third")
	second.cut()
	until("the second loses", second, false)
	until("the third acquires what was lost", third, true)
	if n := most.Load(); n != 1 {
		t.Errorf("%d led at once", n)
	}
}

// onRole has each candidate take part in a role, with a session and a link of its own.
func onRole(t *testing.T) func(string) candidate {
	s := natstest.Server(t, natstest.Listen)
	return func(name string) candidate {
		link := s.Link()
		m, err := roles.New(roles.Config{
			URL: s.URL(), NATSOptions: link.Options(), Bucket: "roles", BucketAutoCreate: true, InstanceID: name,
			TTL: 3 * time.Second, DrainTimeout: 5 * time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		lock, err := NewLock(m.Session(), LockConfig{
			Role: "lock", RenewDeadline: time.Second, RetryPeriod: 100 * time.Millisecond,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Add(roles.Role{Name: "lock", Lead: lock.Lead}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		go func() {
			defer close(over)
			_ = m.Run(ctx) // of a process that is cut off: that its link is closed
		}()
		t.Cleanup(func() {
			link.Heal()
			cancel()
			<-over
		})
		return candidate{lock, link.Cut}
	}
}

// onLease has each candidate use a Lease of one API.
func onLease() func(string) candidate {
	api := fake.NewClientset()
	return func(name string) candidate {
		var cut atomic.Bool
		mine := fake.NewClientset()
		mine.PrependReactor("*", "*", func(a clienttesting.Action) (bool, runtime.Object, error) {
			if cut.Load() {
				return true, nil, errors.New("cut off")
			}
			o, err := api.Invokes(a, nil)
			return true, o, err
		})
		return candidate{lease(mine, "prod", name), func() { cut.Store(true) }}
	}
}

// onRealLease has each candidate use a Lease of a real API server, with a link of its own.
func onRealLease(t *testing.T) func(string) candidate {
	c := aCluster(t)
	return func(name string) candidate {
		link, config := natsrun.NewLink(&net.Dialer{}), rest.CopyConfig(c.server.Config)
		t.Cleanup(link.Close)
		config.Dial = func(_ context.Context, network, address string) (net.Conn, error) {
			return link.Dial(network, address)
		}
		mine, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return candidate{lease(mine, c.namespace, name), link.Cut}
	}
}

func lease(c kubernetes.Interface, namespace, name string) resourcelock.Interface {
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Name: "lock", Namespace: namespace},
		Client:     c.CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}
}

// TestNewLock: an elector that could lead longer than the session is sure of is refused.
func TestNewLock(t *testing.T) {
	m, err := roles.New(roles.Config{URL: "nats://127.0.0.1:1", Bucket: "roles", TTL: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for cfg, ok := range map[LockConfig]bool{
		{"lock", 3 * time.Second, time.Second}:      true,
		{"lock", 10 * time.Second, 2 * time.Second}: false, // the defaults of controller-runtime
		{"lock", time.Second, 0}:                    false,
		{"", time.Second, time.Second}:              false,
	} {
		if _, err := NewLock(m.Session(), cfg); (err == nil) != ok {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

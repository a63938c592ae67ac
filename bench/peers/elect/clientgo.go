package elect

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

var clientGoPeer = Peer{
	Name: "client-go", Module: "k8s.io/client-go", Store: "kube", Settled: aSecond,
	Settings: func(ttl time.Duration) string {
		renew, retry, timeout := clientGoTimes(ttl)
		return fmt.Sprintf("lease %v, renew deadline %v, retry every %v; a request may take %v; no limit of requests", ttl,
			renew.Round(time.Millisecond), retry.Round(time.Millisecond), timeout.Round(time.Millisecond))
	},
	Open: func(_ context.Context, c Config, w Work) (Candidate, error) {
		klog.SetLogger(logr.Discard())
		_, _, timeout := clientGoTimes(c.TTL)
		set, err := kubernetes.NewForConfig(&rest.Config{
			Host: "https://" + c.Addr, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1, Timeout: timeout,
			ContentConfig: rest.ContentConfig{ContentType: "application/json", AcceptContentTypes: "application/json"},
		})
		return &clientGo{c: c, set: set, w: w, all: map[string]*clientGoStand{}}, err
	},
}

// clientGoTimes are in the ratios of its documentation, 15 : 10 : 2, and a time-out that leaves
// room for another try.
func clientGoTimes(ttl time.Duration) (renew, retry, timeout time.Duration) {
	return ttl * 10 / 15, ttl * 2 / 15, ttl / 3
}

type clientGo struct {
	c   Config
	set *kubernetes.Clientset
	w   Work

	mu  sync.RWMutex
	all map[string]*clientGoStand
}

type clientGoStand struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu      sync.Mutex
	elector *leaderelection.LeaderElector
}

func (c *clientGo) Stand(ctx context.Context, role string) error {
	s := &clientGoStand{done: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	work := &sync.WaitGroup{}
	renew, retry, _ := clientGoTimes(c.c.TTL)
	next := func() (*leaderelection.LeaderElector, error) {
		return leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: meta.ObjectMeta{Namespace: "default", Name: role},
				Client:    c.set.CoordinationV1(), LockConfig: resourcelock.ResourceLockConfig{Identity: c.c.Instance},
			},
			LeaseDuration: c.c.TTL, RenewDeadline: renew, RetryPeriod: retry, ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					work.Add(1)
					defer work.Done()
					c.w.begin(role)
					<-ctx.Done()
					c.w.end(role)
				},
				OnStoppedLeading: func() {},
			},
		})
	}
	e, err := next()
	if err != nil {
		return err
	}
	s.elector = e
	c.mu.Lock()
	c.all[role] = s
	c.mu.Unlock()
	go func() {
		defer close(s.done)
		for ctx.Err() == nil { // its Run is over with the first loss
			s.elector.Run(ctx)
			e, err := next()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.elector = e
			s.mu.Unlock()
			time.Sleep(10 * time.Millisecond)
		}
		work.Wait()
	}()
	return nil
}

func (c *clientGo) of(role string) *clientGoStand {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all[role]
}

func (c *clientGo) Resign(_ context.Context, role string) error {
	s := c.of(role)
	s.cancel()
	<-s.done
	return nil
}

func (c *clientGo) Leads(role string) bool {
	s := c.of(role)
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.elector.IsLeader()
}

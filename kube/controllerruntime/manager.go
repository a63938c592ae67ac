package controllerruntime

import (
	"context"
	"errors"
	"sync"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// ErrManager says that Start got a manager that it cannot wait for.
var ErrManager = errors.New("controllerruntime: the manager was not made for this lock, so nobody knows when its " +
	"runnables have stopped: make it with NewManager")

// NewManager makes a manager that is led by a lock, for Start. It sets the options of the leader
// election. Without a GracefulShutdownTimeout the manager waits for its runnables for as long as
// they take. With one it stops its caches after that time, and Start still waits for the runnables.
func NewManager(config *rest.Config, lock *Lock, o manager.Options) (manager.Manager, error) {
	forever, renew, retry := -1*lock.cfg.RetryPeriod, lock.cfg.RenewDeadline, lock.cfg.RetryPeriod
	lease := renew + retry
	o.LeaderElection, o.LeaderElectionResourceLockInterface = true, lock
	o.RenewDeadline, o.RetryPeriod, o.LeaseDuration = &renew, &retry, &lease
	if o.GracefulShutdownTimeout == nil {
		o.GracefulShutdownTimeout = &forever
	}
	mgr, err := manager.New(config, o)
	if err != nil {
		return nil, err
	}
	return &counting{Manager: mgr, lock: lock}, nil
}

// counting is a manager that counts its runnables that need the role. The manager itself returns
// while they run: after its GracefulShutdownTimeout, and at once when its elector has lost.
type counting struct {
	manager.Manager
	lock *Lock

	mu      sync.Mutex
	over    bool // none begins any more
	running sync.WaitGroup
}

// Start implements manager.Manager.
func (c *counting) Start(ctx context.Context) error { return Start(ctx, c, c.lock) }

// Add implements manager.Manager.
func (c *counting) Add(r manager.Runnable) error {
	switch r := r.(type) {
	case interface{ GetCache() cache.Cache }, webhook.Server:
		return c.Manager.Add(r) // runs without the role
	case manager.LeaderElectionRunnable:
		if !r.NeedLeaderElection() {
			return c.Manager.Add(r.(manager.Runnable))
		}
	}
	one := counted{r, c}
	if w, ok := r.(warmer); ok {
		return c.Manager.Add(warm{one, w})
	}
	return c.Manager.Add(one)
}

// wait returns when no runnable runs, and none will begin.
func (c *counting) wait() {
	c.mu.Lock()
	c.over = true
	c.mu.Unlock()
	c.running.Wait()
}

// begin reports whether a runnable may begin.
func (c *counting) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.over {
		c.running.Add(1)
	}
	return !c.over
}

type counted struct {
	manager.Runnable
	by *counting
}

// Start implements manager.Runnable.
func (c counted) Start(ctx context.Context) error {
	if !c.by.begin() {
		return nil
	}
	defer c.by.running.Done()
	return c.Runnable.Start(ctx)
}

type warmer interface{ Warmup(context.Context) error }

type warm struct {
	counted
	warmer
}

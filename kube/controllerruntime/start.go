package controllerruntime

import (
	"context"
	"errors"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// ErrLost says that the manager was stopped because the term ended. A manager starts once: end the
// process, or make a new manager and a new Lock.
var ErrLost = errors.New("controllerruntime: the role was lost, and the manager has stopped")

// Start runs a manager until ctx ends, the role is lost after the manager led, or the manager
// fails. Make the manager with these options:
//
//	LeaderElection: true, LeaderElectionResourceLockInterface: lock,
//	RenewDeadline, RetryPeriod: those of the lock, LeaseDuration: a longer one,
//	GracefulShutdownTimeout: a negative one, so that the manager waits for its controllers,
//
// and give lock.Lead to the role. Caches and webhooks run while another process leads. The role is
// given away when the manager has stopped. Errors: ErrLost with the cause, those of the manager.
func Start(ctx context.Context, mgr manager.Manager, lock *Lock) error {
	running, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stopped := make(chan struct{})
	lock.mu.Lock()
	if lock.stop != nil {
		lock.mu.Unlock()
		return errors.New("controllerruntime: the lock has a manager already: make a Lock for each")
	}
	lock.stop = func(cause error) { cancel(fmt.Errorf("%w: %w", ErrLost, cause)) }
	lock.stopped = stopped
	lock.mu.Unlock()
	err := mgr.Start(running)
	close(stopped)
	if cause := context.Cause(running); errors.Is(cause, ErrLost) && ctx.Err() == nil {
		return errors.Join(cause, err)
	}
	return err
}

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

// Start runs a manager of NewManager until ctx ends, the role is lost after the manager led, or the
// manager fails. Give lock.Lead to the role.
//
// Caches and webhooks run while another process leads. The role is given away when the runnables of
// the manager have returned, and so does Start. A runnable that does not return keeps the role, as
// any other work does. Errors: ErrManager, ErrLost with the cause, those of the manager.
func Start(ctx context.Context, mgr manager.Manager, lock *Lock) error {
	runs, ok := mgr.(*counting)
	if !ok || runs.lock != lock {
		return ErrManager
	}
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
	err := runs.Manager.Start(running)
	lost := lock.lost() // the elector may have noticed it first
	runs.wait()
	close(stopped)
	switch cause := context.Cause(running); {
	case ctx.Err() != nil:
		return err
	case errors.Is(cause, ErrLost):
		return errors.Join(cause, err)
	case lost:
		return errors.Join(ErrLost, err)
	}
	return err
}

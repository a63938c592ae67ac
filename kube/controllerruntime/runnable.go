package controllerruntime

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

// Runnable runs what build makes in the terms of a role. Add it to a manager without leader
// election of its own, which starts it when its caches are warm. build is called at the begin of
// each term, since a controller starts once: make it with controller.NewUnmanaged there.
//
// The role is given away when what was built has returned. The manager waits for that when it
// stops, for its GracefulShutdownTimeout. m has to run as long as the manager does.
func Runnable(m *roles.Manager, role roles.Role, build func() (manager.Runnable, error)) manager.Runnable {
	return &runnable{m, role, build}
}

type runnable struct {
	m     *roles.Manager
	role  roles.Role
	build func() (manager.Runnable, error)
}

// NeedLeaderElection tells the manager that the role decides, and not the manager's own election.
func (r *runnable) NeedLeaderElection() bool { return false }

// Start takes part in the role until ctx ends.
func (r *runnable) Start(ctx context.Context) error {
	role := r.role
	role.Lead = func(ctx context.Context, _ *election.Term) error {
		built, err := r.build()
		if err != nil {
			return err
		}
		return built.Start(ctx)
	}
	if err := r.m.Add(role); err != nil {
		return err
	}
	<-ctx.Done()
	return r.m.Remove(context.WithoutCancel(ctx), role.Name)
}

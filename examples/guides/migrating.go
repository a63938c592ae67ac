package guides

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

// elect works while this process leads. A term that is lost ends the context of the work, and not
// the process.
func elect(ctx context.Context, nc *nats.Conn, work func(context.Context)) error {
	m, err := roles.New(roles.Config{Conn: nc, Bucket: "roles"}, roles.Role{
		Name: "scheduler",
		Lead: func(ctx context.Context, _ *election.Term) error {
			work(ctx)
			return nil
		},
	})
	if err != nil {
		return err
	}
	return m.Run(ctx)
}

// campaign works in each term of this process until ctx ends. The role is given away when work has
// returned.
func campaign(ctx context.Context, nc *nats.Conn, name string, work func(context.Context) error) error {
	e, err := election.New(nc, election.Config{
		SessionConfig: election.SessionConfig{Bucket: "roles", InstanceID: name},
		RoleConfig:    election.RoleConfig{Role: "scheduler"},
	})
	if err != nil {
		return err
	}
	return e.Run(ctx, func(ctx context.Context, _ *election.Term) error { return work(ctx) })
}

// preview is a type of task.
var preview = assign.NewKind[string, int]("preview.v1", assign.MaxAttempts(3))

// previews has this process run the tasks.
func previews(a *assign.Assigner, render func(ctx context.Context, image string) (width int, err error)) error {
	return assign.Handle(a, preview, func(ctx context.Context, t *assign.Task[string]) (int, error) {
		return render(ctx, t.Input)
	})
}

// enqueue submits one task. Its Wait returns the width.
func enqueue(ctx context.Context, to assign.Submitter, image string) (*assign.Pending[int], error) {
	return assign.Submit(ctx, to, preview, image)
}

package guides

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/assign/keyring"
	"github.com/rolemanager/rolemanager/election"
)

// charge is a kind whose inputs only workers may read.
var charge = assign.NewKind[string, string]("charge.v1")

// sealingWorker is a worker with the keys. The session is not open yet.
func sealingWorker(s *election.Session, keyFile string) (*assign.Assigner, error) {
	ring, err := keyring.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	a, err := assign.New(s, assign.Config{
		Namespace: "payments", Role: "scheduler", StreamAutoCreate: true,
		Codec: ring, // opens inputs, seals outputs and checkpoints
	})
	if err != nil {
		return nil, err
	}
	return a, assign.Handle(a, charge, func(_ context.Context, t *assign.Task[string]) (string, error) {
		return "charged " + t.Input[len(t.Input)-4:], nil
	})
}

// sealingSubmitter is a client with the keys. It also adds a header to each task.
func sealingSubmitter(nc *nats.Conn, keyFile, tenant string) (*assign.Client, error) {
	ring, err := keyring.ReadFile(keyFile)
	if err != nil {
		return nil, err
	}
	return assign.NewClient(nc, assign.ClientConfig{
		Namespace: "payments",
		Codec:     ring,
		SubmitMiddleware: []assign.SubmitMiddleware{func(next assign.SubmitFunc) assign.SubmitFunc {
			return func(ctx context.Context, s *assign.Submitting) error {
				if tenant == "" {
					return fmt.Errorf("a task of kind %s without a tenant", s.Kind)
				}
				s.Headers["tenant"] = tenant
				return next(ctx, s)
			}
		}},
	})
}

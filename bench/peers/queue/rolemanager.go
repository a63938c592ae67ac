package queue

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

var rolemanagerPeer = Peer{
	Name: "rolemanager", Store: "nats", Replicated: true,
	Settings: func(c Config) string {
		s, err := newSession(c)
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("TTL %v; a connection for each process", s.Config().TTL)
	},
	Connect: func(_ context.Context, c Config) (Client, error) {
		nc, err := nats.Connect("nats://" + c.Addr)
		if err != nil {
			return nil, err
		}
		ac, err := assign.NewClient(nc, assign.ClientConfig{
			Namespace: "bench", StreamAutoCreate: true, Storage: jetstream.FileStorage, Replicas: c.Replicas,
		})
		return &rolemanager{nc: nc, c: ac}, err
	},
	// Every worker is a candidate for the scheduler's role too, and the scheduler works: three
	// processes in all, as the peers have.
	Work: func(ctx context.Context, c Config, h Handler) error {
		nc, err := nats.Connect("nats://"+c.Addr, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
		if err != nil {
			return err
		}
		s, err := newSession(c)
		if err != nil {
			return err
		}
		a, err := assign.New(s, assign.Config{
			Namespace: "bench", Role: "scheduler", Slots: c.Slots, StreamAutoCreate: true, Storage: jetstream.FileStorage,
			Replicas: c.Replicas,
		})
		if err != nil {
			return err
		}
		if err := assign.Handle(a, job, func(ctx context.Context, t *assign.Task[string]) (string, error) {
			return h(ctx, t.ID())
		}); err != nil {
			return err
		}
		if err := s.Open(ctx, nc); err != nil {
			return err
		}
		e, err := s.Campaign(election.RoleConfig{Role: "scheduler", Lead: a.Lead})
		if err != nil {
			return err
		}
		return e.Start(ctx)
	},
}

// newSession has the default TTL, unless it is tuned: then the one that docs/operations.md advises
// for one server.
func newSession(c Config) (*election.Session, error) {
	cfg := election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, Replicas: c.Replicas, InstanceID: c.Name}
	if c.Tuned || c.Impatient {
		cfg.TTL = 2 * time.Second
	}
	return election.NewSession(cfg)
}

var job = assign.NewKind[string, string]("job.v1", assign.MaxAttempts(100))

type rolemanager struct {
	nc        *nats.Conn
	c         *assign.Client
	submitted atomic.Int64
}

func (r *rolemanager) Submit(ctx context.Context, payload string) (string, error) {
	p, err := assign.Submit(ctx, r.c, job, payload)
	if err != nil {
		return "", err
	}
	r.submitted.Add(1)
	return p.ID(), nil
}

func (r *rolemanager) SubmitMany(ctx context.Context, payload string, n int) error {
	all := make([]string, n)
	for i := range all {
		all[i] = payload
	}
	_, err := assign.SubmitBatch(ctx, r.c, job, all)
	if err == nil {
		r.submitted.Add(int64(n))
	}
	return err
}

// Completed is what is no longer open: a task is in the scheduler's state until its end is stored.
// It is asked when the scheduler has handed out all that were submitted, so none can be missing
// there that has not come to it yet.
func (r *rolemanager) Completed(ctx context.Context) (int, error) {
	o, err := assign.GetOverview(ctx, r.c)
	if err != nil {
		return 0, err
	}
	n := int(r.submitted.Load())
	for _, k := range o.Kinds {
		n -= k.Waiting + k.Delayed + k.Running
	}
	return n, nil
}

func (r *rolemanager) Outcome(ctx context.Context, id string) (bool, string, error) {
	st, err := assign.Get(ctx, r.c, id)
	if err != nil || st.Ended.IsZero() {
		return false, "", err
	}
	result, err := assign.Find(r.c, job, id).Wait(ctx)
	return true, result, err
}

func (r *rolemanager) Close() {
	r.c.Close()
	r.nc.Close()
}

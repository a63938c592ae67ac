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
	Name: "rolemanager", Store: "nats",
	Settings: func(Config) string {
		return fmt.Sprintf("TTL %v; a connection for each process", rolemanagerTTL)
	},
	Connect: func(_ context.Context, c Config) (Client, error) {
		nc, err := nats.Connect("nats://" + c.Addr)
		if err != nil {
			return nil, err
		}
		ac, err := assign.NewClient(nc, assign.ClientConfig{
			Namespace: "bench", StreamAutoCreate: true, Storage: jetstream.FileStorage,
		})
		return &rolemanager{nc: nc, c: ac}, err
	},
	// Every worker is a candidate for the scheduler's role too, and the scheduler works: three processes in all, as the
	// peers have.
	Work: func(ctx context.Context, c Config, h Handler) error {
		nc, err := nats.Connect("nats://"+c.Addr, nats.MaxReconnects(-1), nats.ReconnectBufSize(-1))
		if err != nil {
			return err
		}
		s, err := election.NewSession(election.SessionConfig{
			Bucket: "roles", BucketAutoCreate: true, InstanceID: c.Name, TTL: rolemanagerTTL,
		})
		if err != nil {
			return err
		}
		a, err := assign.New(s, assign.Config{
			Namespace: "bench", Role: "scheduler", Slots: c.Slots, StreamAutoCreate: true, Storage: jetstream.FileStorage,
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

// rolemanagerTTL is short of the default of 10 s, as docs/operations.md advises for one server.
const rolemanagerTTL = 2 * time.Second

var job = assign.NewKind[string, string]("job.v1", assign.MaxAttempts(100))

type rolemanager struct {
	nc    *nats.Conn
	c     *assign.Client
	ended atomic.Int64
}

// Submit waits for the outcome in the background: this peer brings it to the submitter, while the others are asked for it.
func (r *rolemanager) Submit(ctx context.Context, payload string) (string, error) {
	p, err := assign.Submit(ctx, r.c, job, payload)
	if err != nil {
		return "", err
	}
	go func() {
		if _, err := p.Wait(context.WithoutCancel(ctx)); err == nil { // else Completed never gets there, and says so
			r.ended.Add(1)
		}
	}()
	return p.ID(), nil
}

func (r *rolemanager) SubmitMany(ctx context.Context, payload string, n int) error {
	all := make([]string, n)
	for i := range all {
		all[i] = payload
	}
	pending, err := assign.SubmitBatch(ctx, r.c, job, all)
	for _, p := range pending {
		if p != nil {
			go func() {
				if _, err := p.Wait(context.WithoutCancel(ctx)); err == nil {
					r.ended.Add(1)
				}
			}()
		}
	}
	return err
}

func (r *rolemanager) Completed(context.Context) (int, error) { return int(r.ended.Load()), nil }

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

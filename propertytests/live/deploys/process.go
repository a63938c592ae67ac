package deploys

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
	"github.com/rolemanager/rolemanager/roles"
)

const (
	namespace = "deploys"
	role      = "scheduler"
	ttl       = 30 * time.Second
	drain     = 15 * time.Second
)

// oneStart is one start of the program.
type oneStart struct {
	of     build
	worker bool // it campaigns for nothing
	link   *natsrun.Link
	nc     *nats.Conn
	stop   context.CancelFunc // SIGTERM
	ended  chan struct{}      // closed when it has ended
}

// join starts a process of a build.
func (w *fleet) join(of build, worker bool) (*oneStart, error) {
	w.joined++
	p := &oneStart{of: of, worker: worker, link: w.server.Link(), ended: make(chan struct{})}
	name := fmt.Sprintf("p%d", w.joined)
	var err error
	p.nc, err = w.server.Connect(append(storm.Unbroken(name, ttl), nats.SetCustomDialer(p.link))...)
	if err != nil {
		return nil, err
	}
	m, err := roles.New(roles.Config{
		Conn: p.nc, Bucket: namespace, BucketAutoCreate: true, Storage: jetstream.MemoryStorage, InstanceID: name,
		TTL: ttl, WorkerOnly: worker, Sinks: []event.Sink{event.SinkFunc(w.observe)},
	})
	if err != nil {
		return nil, err
	}
	ring, err := of.ring()
	if err != nil {
		return nil, err
	}
	a, err := assign.New(m.Session(), assign.Config{
		Namespace: namespace, Role: role, StreamAutoCreate: true, Storage: jetstream.MemoryStorage, Slots: 8,
		DrainTimeout: drain, Codec: ring,
	})
	if err != nil {
		return nil, err
	}
	if err := w.handle(a, of); err != nil {
		return nil, err
	}
	if name, lead := a.Role(); !worker {
		if err := m.Add(roles.Role{Name: name, Lead: lead}); err != nil {
			return nil, err
		}
	}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	w.processes.Go(func() {
		defer close(p.ended)
		_ = m.Run(ctx) // of one that was cut off: an error that says so
		p.nc.Close()
	})
	return p, nil
}

// handle gives a process the kinds of its build.
func (w *fleet) handle(a *assign.Assigner, of build) error {
	ordered := func(ctx context.Context, t *assign.Task[order]) (string, error) {
		return w.run(ctx, t.ID(), t.Attempt(), t.Input)
	}
	bounded := func(ctx context.Context, t *assign.Task[order]) (string, error) {
		defer w.enter()()
		return w.run(ctx, t.ID(), t.Attempt(), t.Input)
	}
	short := order{Run: 2 * time.Second}
	var shaped error
	if of%2 == 0 {
		shaped = assign.Handle(a, even, func(ctx context.Context, t *assign.Task[evenShape]) (string, error) {
			return w.run(ctx, t.ID(), t.Attempt(), short)
		})
	} else {
		shaped = assign.Handle(a, odd, func(ctx context.Context, t *assign.Task[oddShape]) (string, error) {
			return w.run(ctx, t.ID(), t.Attempt(), short)
		})
	}
	return errors.Join(
		assign.Handle(a, stable, ordered), assign.Handle(a, of.job(), ordered), assign.Handle(a, (of-1).job(), ordered),
		assign.Handle(a, of.bounded(), bounded), shaped,
		assign.Handle(a, relay, func(ctx context.Context, t *assign.Task[assign.Ref[string]]) (string, error) {
			if _, err := w.run(ctx, t.ID(), t.Attempt(), short); err != nil {
				return "", err
			}
			return t.Input.Get(ctx, a)
		}),
		assign.Handle(a, whole, func(ctx context.Context, t *assign.Task[assign.GroupRef]) (assign.GroupStatus, error) {
			return t.Input.Status(ctx, a)
		}),
	)
}

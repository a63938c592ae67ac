//go:build realtime

package bench

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// echo is a task that costs nothing but its way.
var echo = assign.NewKind[[]byte, []byte]("echo.v1")

func echoes(_ context.Context, t *assign.Task[[]byte]) ([]byte, error) { return t.Input, nil }

// host is what a benchmark of tasks runs on: one server or a cluster of three.
type host interface {
	Connect(opts ...nats.Option) (*nats.Conn, error)
}

// store is where the records of a namespace are kept.
type store struct {
	name     string
	storage  jetstream.StorageType
	replicas int
}

var stores = []store{
	{"memory", jetstream.MemoryStorage, 1},
	{"file", jetstream.FileStorage, 1},
	{"replicas3", jetstream.FileStorage, 3},
}

func (s store) host(b *testing.B) host {
	if s.replicas > 1 {
		return natstest.Cluster(b)
	}
	return natstest.Server(b)
}

// stage is one process of a namespace of tasks.
type stage struct {
	nc      *nats.Conn
	session *election.Session
	a       *assign.Assigner
}

// enter opens a session with an assigner; register gives it its handlers. With campaign it is a
// candidate for the role.
func (s store) enter(b *testing.B, at host, name string, campaign bool, register func(*assign.Assigner),
	edit func(*election.SessionConfig, *assign.Config),
) *stage {
	b.Helper()
	must := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	nc, err := at.Connect(nats.ReconnectBufSize(-1), nats.MaxReconnects(-1))
	must(err)
	b.Cleanup(nc.Close)
	sc := election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true, InstanceID: name, TTL: 10 * time.Second, WorkerOnly: !campaign,
		Storage: s.storage, Replicas: s.replicas,
	}
	ac := assign.Config{
		Namespace: "bench", Role: "scheduler", Slots: 512, StreamAutoCreate: true, Storage: s.storage, Replicas: s.replicas,
	}
	if edit != nil {
		edit(&sc, &ac)
	}
	g := &stage{nc: nc}
	g.session, err = election.NewSession(sc)
	must(err)
	g.a, err = assign.New(g.session, ac)
	must(err)
	if register != nil {
		register(g.a)
	}
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	defer cancel()
	must(g.session.Open(ctx, nc))
	b.Cleanup(func() { _ = g.session.Close(context.Background()) }) // what is measured is over
	if campaign {
		e, err := g.session.Campaign(election.RoleConfig{Role: "scheduler", Lead: g.a.Lead})
		must(err)
		must(e.Start(b.Context()))
	}
	return g
}

func working(b *testing.B) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		if err := assign.Handle(a, echo, echoes); err != nil {
			b.Fatal(err)
		}
	}
}

// client submits on a connection of its own.
func (s store) client(b *testing.B, at host) *assign.Client {
	b.Helper()
	nc, err := at.Connect()
	if err != nil {
		b.Fatal(err)
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{
		Namespace: "bench", StreamAutoCreate: true, Storage: s.storage, Replicas: s.replicas,
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		c.Close()
		nc.Close()
	})
	return c
}

func roundTrip(ctx context.Context, c *assign.Client) error {
	p, err := assign.Submit(ctx, c, echo, []byte("0123456789abcdef"))
	if err != nil {
		return err
	}
	_, err = p.Wait(ctx)
	return err
}

// recoveries hears when a scheduler hands out tasks.
func recoveries(sc *election.SessionConfig) <-chan event.TaskRecovered {
	heard := make(chan event.TaskRecovered, 16) // terms of one benchmark, at most
	sc.Sinks = append(sc.Sinks, event.SinkFunc(func(e event.Event) {
		if r, ok := e.(event.TaskRecovered); ok {
			heard <- r
		}
	}))
	return heard
}

// submitAll stores n tasks without waiting for them.
func submitAll[In, Out any](b *testing.B, c *assign.Client, k assign.Kind[In, Out], in In, n int,
	opts ...assign.SubmitOption,
) {
	b.Helper()
	var all sync.WaitGroup
	next := make(chan struct{}, 1024)
	for range 1024 {
		all.Go(func() {
			for range next {
				if _, err := assign.Submit(b.Context(), c, k, in, opts...); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for range n {
		next <- struct{}{}
	}
	close(next)
	all.Wait()
}

// childEnv makes this binary a worker of that name on that server.
const (
	childURL  = "ROLEMANAGER_BENCH_URL"
	childName = "ROLEMANAGER_BENCH_NAME"
)

// hold is a task that says where it runs and runs until it is ended.
var hold = assign.NewKind[string, string]("hold.v1", assign.MaxAttempts(1000))

// workForParent is the life of such a worker: it holds what it is given until it is killed.
func workForParent() {
	url := os.Getenv(childURL)
	if url == "" {
		return
	}
	if err := holdTasks(url, os.Getenv(childName)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func holdTasks(url, name string) error {
	nc, err := nats.Connect(url, nats.ReconnectBufSize(-1))
	if err != nil {
		return err
	}
	defer nc.Close()
	s, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: name, TTL: rerunTTL,
		WorkerOnly: true,
	})
	if err != nil {
		return err
	}
	a, err := assign.New(s, assign.Config{Namespace: "bench", Role: "scheduler", Slots: 16})
	if err != nil {
		return err
	}
	if err := assign.Handle(a, hold, func(ctx context.Context, t *assign.Task[string]) (string, error) {
		if err := nc.Publish("bench.runs."+name, []byte(t.ID())); err != nil {
			return "", err
		}
		<-ctx.Done()
		return "", context.Cause(ctx)
	}); err != nil {
		return err
	}
	if err := s.Open(context.Background(), nc); err != nil {
		return err
	}
	<-s.Done()
	return s.Err()
}

package assigntest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Namespace is a running namespace, with everything in the test's process. It is an
// [assign.Submitter] by its Client.
type Namespace struct {
	*assign.Client
	// Assigner schedules and works.
	Assigner *assign.Assigner
	// Workers are the instances that [Workers] added, in order. They only work.
	Workers []*Worker
	// Conn is the connection of the client.
	Conn *nats.Conn

	tb     testing.TB
	server *natsrun.Server
	starts starts
}

// Worker is an instance that only works.
type Worker struct {
	*assign.Assigner
	// Instance is the instance id that its tasks report: worker-1, worker-2, …
	Instance string

	session *election.Session
}

const (
	bucket   = "roles"
	role     = "scheduler"
	name     = "test"
	instance = "assigntest"
	within   = 30 * time.Second
)

// StartOption changes the namespace that [Start] starts.
type StartOption func(*starts)

type starts struct {
	workers   int
	configure []func(*assign.Config)
}

// Workers adds n instances that only work, each with its own session.
func Workers(n int) StartOption { return func(s *starts) { s.workers = n } }

// Configure lets the test change the configuration of every instance. Start sets Namespace, Role
// and StreamAutoCreate itself.
func Configure(edit func(*assign.Config)) StartOption {
	return func(s *starts) { s.configure = append(s.configure, edit) }
}

// Start starts a NATS server with a temporary store, an instance that schedules and works, and the
// instances of [Workers]. register gives each instance its handlers. Everything is shut down when
// the test ends: handlers that still run are cancelled.
func Start(tb testing.TB, register func(a *assign.Assigner), opts ...StartOption) *Namespace {
	tb.Helper()
	n := &Namespace{tb: tb}
	for _, o := range opts {
		o(&n.starts)
	}
	var err error
	n.server, err = natsrun.Start(natsrun.Options{})
	n.must(err)
	tb.Cleanup(func() { n.must(n.server.Shutdown()) })
	n.Conn = n.connect()
	var session *election.Session
	n.Assigner, session = n.join(instance, false, register)
	campaign, err := session.Campaign(election.RoleConfig{Role: role, Lead: n.Assigner.Lead})
	n.must(err)
	n.must(campaign.Start(context.Background()))
	for i := range n.starts.workers {
		w := &Worker{Instance: fmt.Sprint("worker-", i+1)}
		w.Assigner, w.session = n.join(w.Instance, true, register)
		n.Workers = append(n.Workers, w)
	}
	n.Client, err = assign.NewClient(n.Conn, assign.ClientConfig{Namespace: name, StreamAutoCreate: true})
	n.must(err)
	tb.Cleanup(n.Client.Close)
	return n
}

// join opens one instance, until the test ends.
func (n *Namespace) join(instance string, workerOnly bool, register func(*assign.Assigner)) (*assign.Assigner,
	*election.Session,
) {
	n.tb.Helper()
	ctx, cancel := context.WithTimeout(n.tb.Context(), within)
	defer cancel()
	session, err := election.NewSession(election.SessionConfig{
		Bucket: bucket, BucketAutoCreate: true, InstanceID: instance, WorkerOnly: workerOnly, TTL: 2 * time.Second,
	})
	n.must(err)
	cfg := assign.Config{DrainTimeout: time.Second}
	for _, edit := range n.starts.configure {
		edit(&cfg)
	}
	cfg.Namespace, cfg.Role, cfg.StreamAutoCreate = name, role, true
	a, err := assign.New(session, cfg)
	n.must(err)
	register(a)
	n.must(session.Open(ctx, n.connect()))
	n.tb.Cleanup(func() { n.leave(instance, session) })
	return a, session
}

func (n *Namespace) leave(instance string, session *election.Session) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	if err := session.Close(ctx); err != nil && !errors.Is(err, election.ErrClosed) {
		n.tb.Logf("assigntest: close %s: %v", instance, err)
	}
}

// Stop shuts a worker down cleanly: its handlers may finish within the DrainTimeout, and tasks that
// still run after that are given back. Stop returns when that is done.
func (n *Namespace) Stop(w *Worker) {
	n.tb.Helper()
	n.leave(w.Instance, w.session)
}

func (n *Namespace) connect() *nats.Conn {
	n.tb.Helper()
	nc, err := n.server.Connect()
	n.must(err)
	n.tb.Cleanup(nc.Close)
	return nc
}

func (n *Namespace) must(err error) {
	n.tb.Helper()
	if err != nil {
		n.tb.Fatalf("assigntest: %v", err)
	}
}

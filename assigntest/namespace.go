package assigntest

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Namespace is a running one, with everything in the test's process. It is an [assign.Submitter] by its Client.
type Namespace struct {
	*assign.Client
	// Assigner schedules and works.
	Assigner *assign.Assigner
	// Conn is the connection of the client.
	Conn *nats.Conn
}

const (
	bucket   = "roles"
	role     = "scheduler"
	name     = "test"
	instance = "assigntest"
	within   = 30 * time.Second
)

// Start starts a NATS server with a temporary store, and one instance that schedules and works; register gives it its
// handlers. All of it is shut down when the test ends: handlers that still run then are cancelled.
func Start(tb testing.TB, register func(a *assign.Assigner)) *Namespace {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), within)
	defer cancel()
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatalf("assigntest: %v", err)
		}
	}
	server, err := natsrun.Start(natsrun.Options{})
	must(err)
	tb.Cleanup(func() { must(server.Shutdown()) })
	connect := func() *nats.Conn {
		nc, err := server.Connect()
		must(err)
		tb.Cleanup(nc.Close)
		return nc
	}
	session, err := election.NewSession(election.SessionConfig{
		Bucket: bucket, BucketAutoCreate: true, InstanceID: instance, TTL: 2 * time.Second,
	})
	must(err)
	n := &Namespace{Conn: connect()}
	n.Assigner, err = assign.New(session, assign.Config{
		Namespace: name, Role: role, StreamAutoCreate: true, DrainTimeout: time.Second,
	})
	must(err)
	register(n.Assigner)
	must(session.Open(ctx, connect()))
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		if err := session.Close(ctx); err != nil {
			tb.Logf("assigntest: %v", err)
		}
	})
	campaign, err := session.Campaign(election.RoleConfig{Role: role, Lead: n.Assigner.Lead})
	must(err)
	must(campaign.Start(context.Background()))
	n.Client, err = assign.NewClient(n.Conn, assign.ClientConfig{Namespace: name, StreamAutoCreate: true})
	must(err)
	tb.Cleanup(n.Client.Close)
	return n
}

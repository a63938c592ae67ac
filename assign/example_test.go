package assign_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
)

// shout is a type of task: what goes in, what comes out, and how it is to be treated.
var shout = assign.NewKind[string, string]("shout.v1", assign.MaxAttempts(3), assign.Timeout(time.Second))

// serve runs a NATS server in this process, for the example; a program connects to one that is
// there.
func serve() (*server.Server, func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, JetStream: true, StoreDir: dir})
	if err != nil {
		log.Fatal(err)
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		log.Fatal("the server did not come up")
	}
	return s, func() {
		s.Shutdown()
		s.WaitForShutdown()
		_ = os.RemoveAll(dir) // a temporary directory
	}
}

func Example() {
	s, shutdown := serve()
	defer shutdown()
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	ctx := context.Background()

	session, err := election.NewSession(election.SessionConfig{Bucket: "roles", BucketAutoCreate: true})
	if err != nil {
		log.Fatal(err)
	}
	tasks, err := assign.New(session, assign.Config{Namespace: "demo", Role: "scheduler", StreamAutoCreate: true})
	if err != nil {
		log.Fatal(err)
	}
	if err := assign.Handle(tasks, shout, func(_ context.Context, t *assign.Task[string]) (string, error) {
		return strings.ToUpper(t.Input), nil
	}); err != nil {
		log.Fatal(err)
	}
	if err := session.Open(ctx, nc); err != nil {
		log.Fatal(err)
	}
	defer func() { _ = session.Close(ctx) }()
	role, lead := tasks.Role()
	scheduler, err := session.Campaign(election.RoleConfig{Role: role, Lead: lead})
	if err != nil {
		log.Fatal(err)
	}
	if err := scheduler.Start(ctx); err != nil {
		log.Fatal(err)
	}

	pending, err := assign.Submit(ctx, tasks, shout, "hello")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(pending.Wait(ctx))
	// Output: HELLO <nil>
}

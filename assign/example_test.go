package assign_test

import (
	"context"
	"fmt"
	"log"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// shout is a type of task: what goes in, what comes out, and how it is to be treated.
var shout = assign.NewKind[string, string]("shout.v1", assign.MaxAttempts(3), assign.Timeout(time.Second))

func Example() {
	server, err := natsrun.Start(natsrun.Options{}) // any NATS server with JetStream
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = server.Shutdown() }()
	nc, err := server.Connect()
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
	scheduler, err := session.Campaign(election.RoleConfig{Role: "scheduler", Lead: tasks.Lead})
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

package election_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
)

// serve runs a NATS server in this process, for the examples; a program connects to one that is
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

// Example is one process with one role. A second one like it would wait until this one has given
// the role up, or has vanished for longer than the TTL.
func Example() {
	s, shutdown := serve()
	defer shutdown()
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()

	e, err := election.New(nc, election.Config{
		SessionConfig: election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: "node-1"},
		RoleConfig:    election.RoleConfig{Role: "scheduler"},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err = e.Run(ctx, func(ctx context.Context, t *election.Term) error {
		fmt.Println(t.Token().Holder, "leads", t.Role())
		cancel()     // the program is asked to end
		<-ctx.Done() // work until then
		fmt.Println("stops:", context.Cause(ctx))
		return nil
	})
	fmt.Println("error:", err)
	// Output:
	// node-1 leads scheduler
	// stops: election: stepped down
	// error: <nil>
}

// A session serves any number of roles with one heartbeat. Callbacks instead of a function suit
// programs that have services to start and to stop.
func ExampleSession() {
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
	if err := session.Open(ctx, nc); err != nil {
		log.Fatal(err)
	}
	var guard fencing.Guard // stands before the resource, usually in another process
	for _, role := range []string{"billing", "reports"} {
		e, err := session.Campaign(election.RoleConfig{Role: role})
		if err != nil {
			log.Fatal(err)
		}
		promoted := make(chan fencing.Token)
		e.OnPromote(func(_ context.Context, t fencing.Token) { promoted <- t })
		e.OnDemote(func() { fmt.Println("stop", role) })
		if err := e.Start(ctx); err != nil {
			log.Fatal(err)
		}
		token := <-promoted
		fmt.Println("start", role)
		if role == "billing" {
			fmt.Println("admitted:", guard.Admit(token) == nil)
		}
		if err := e.Stop(); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("closed:", session.Close(ctx) == nil)
	// Output:
	// start billing
	// admitted: true
	// stop billing
	// start reports
	// stop reports
	// closed: true
}

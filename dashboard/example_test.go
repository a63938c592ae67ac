package dashboard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/dashboard"
	"github.com/rolemanager/rolemanager/election"
)

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

// lead leads the scheduler until the function that it returns is called.
func lead(ctx context.Context, nc *nats.Conn) (stop func() error) {
	e, err := election.New(nc, election.Config{
		SessionConfig: election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: "node-1"},
		RoleConfig:    election.RoleConfig{Role: "scheduler"},
	})
	if err != nil {
		log.Fatal(err)
	}
	leads := make(chan struct{})
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- e.Run(ctx, func(ctx context.Context, _ *election.Term) error {
			close(leads)
			<-ctx.Done()
			return nil
		})
	}()
	<-leads
	return func() error { cancel(); return <-ended }
}

// A page is a handler, below a path of the program's own. Each screen can also be had as JSON.
func Example() {
	s, shutdown := serve()
	defer shutdown()
	nc, err := nats.Connect("", nats.InProcessServer(s))
	if err != nil {
		log.Fatal(err)
	}
	defer nc.Close()
	ctx := context.Background()
	stop := lead(ctx, nc)

	observer, err := election.Observe(ctx, nc, "roles", election.WithWorkers())
	if err != nil {
		log.Fatal(err)
	}
	defer observer.Close()
	page, err := dashboard.New(dashboard.Options{Observer: observer, Title: "prod-eu", BasePath: "/leaders"})
	if err != nil {
		log.Fatal(err)
	}
	defer page.Close()
	mux := http.NewServeMux()
	mux.Handle("/leaders/", page)

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/leaders/now.json", nil))
	var now struct {
		Roles []struct{ Role, Leader string }
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &now); err != nil {
		log.Fatal(err)
	}
	for _, r := range now.Roles {
		fmt.Println(r.Leader, "leads", r.Role)
	}
	fmt.Println("stopped:", stop() == nil)
	// Output:
	// node-1 leads scheduler
	// stopped: true
}

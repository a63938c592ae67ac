package roles_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

// serve runs a NATS server in this process, for the example; a program connects to one that is
// there.
func serve() (*server.Server, func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, JetStream: true,
		StoreDir: dir,
	})
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

// A process that takes part in a role until it is told to stop. A real one takes its URL from the
// environment, and its context from signal.NotifyContext.
func Example() {
	s, shutdown := serve()
	defer shutdown()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()

	manager, err := roles.New(roles.Config{
		URL:              s.ClientURL(),
		Bucket:           "roles",
		BucketAutoCreate: true,
		InstanceID:       "node-1",
	}, roles.Role{
		Name: "scheduler",
		Lead: func(ctx context.Context, t *election.Term) error {
			fmt.Println("leading", t.Role(), "with an epoch:", t.Epoch() > 0)
			stop() // for the example: somebody stops the process
			<-ctx.Done()
			fmt.Println("handing over:", context.Cause(ctx))
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Run returned", manager.Run(ctx))
	// Output:
	// leading scheduler with an epoch: true
	// handing over: election: session closed
	// Run returned <nil>
}

// The health endpoints go beside the program's own pages.
func ExampleManager_Handler() {
	manager, err := roles.New(
		roles.Config{URL: "nats://localhost:4222", Bucket: "roles"},
		roles.Role{Name: "scheduler", Lead: func(ctx context.Context, _ *election.Term) error { <-ctx.Done(); return nil }})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/health/", http.StripPrefix("/health", manager.Handler()))

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/health/readyz", nil))
	fmt.Print(answer.Code, " ", answer.Body)
	// Output: 503 not ready: not running yet
}

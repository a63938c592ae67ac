package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/kube"
	"github.com/rolemanager/rolemanager/roles"
)

// serve runs a NATS server in this process, for the example; a program connects to one that is
// there.
func serve() (*server.Server, func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, NoSigs: true, JetStream: true, StoreDir: dir})
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

// apiServer stands in for that of a cluster: it keeps one EndpointSlice, tells what each write
// names, and then calls written. A pod leaves Client out, and talks to the API server of its
// cluster.
func apiServer(written func()) *httptest.Server {
	var stored []byte
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && stored == nil {
			http.Error(w, "{}", http.StatusNotFound)
			return
		}
		if r.Method != http.MethodGet {
			stored, _ = io.ReadAll(r.Body) // what cannot be read names nobody
			var slice struct {
				Endpoints []struct{ Addresses []string }
			}
			_ = json.Unmarshal(stored, &slice)
			fmt.Println("the slice names", slice.Endpoints)
			defer written()
		}
		_, _ = w.Write(stored)
	}))
}

// A Service without a selector leads to the pod that leads the role.
func ExampleLeaderEndpoint() {
	s, shutdown := serve()
	defer shutdown()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	api := apiServer(stop) // for the example: the pod is stopped when the slice names it
	defer api.Close()

	manager, err := roles.New(roles.Config{URL: s.ClientURL(), Bucket: "roles", BucketAutoCreate: true})
	if err != nil {
		log.Fatal(err)
	}
	endpoint := &kube.LeaderEndpoint{
		Session: manager.Session(), Service: "scheduler-leader", Ports: []kube.Port{{Name: "http", Port: 8080}},
		Address: "10.0.0.7", Client: &kube.Client{Address: api.URL, Namespace: "prod"},
	}
	lead := func(ctx context.Context, _ *election.Term) error { <-ctx.Done(); return nil }
	if err := manager.Add(roles.Role{Name: "scheduler", Lead: endpoint.Lead(lead)}); err != nil {
		log.Fatal(err)
	}
	fmt.Println("stopped:", manager.Run(ctx))
	http.DefaultClient.CloseIdleConnections()
	// Output:
	// the slice names [{[10.0.0.7]}]
	// the slice names []
	// stopped: <nil>
}

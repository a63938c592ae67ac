// Command leader-service answers requests in several pods, and a Service leads to the one that
// leads. Its manifests are in deploy/kubernetes, and docs/guides/kubernetes.md is about it. It runs
// in a pod only: the API server and the names of the pod are known there.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/kube"
	"github.com/rolemanager/rolemanager/roles"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, cmp.Or(os.Getenv("LISTEN"), ":8080"), nil); err != nil {
		log.Fatal(err)
	}
}

// run takes part in the role, and serves. api is nil in a pod: its service account.
func run(ctx context.Context, address string, api *kube.Client) error {
	m, err := takesPart(api)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", m.Handler()) // the probes: /livez and /readyz
	mux.HandleFunc("GET /work", func(w http.ResponseWriter, _ *http.Request) { work(w, m) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	err = m.Run(ctx)
	_ = server.Close() // the listener and idle connections
	if failed := <-served; !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(err, failed)
	}
	return err
}

// takesPart is the part of this pod in the role "scheduler". NATS and the names of the pod are in
// its environment.
func takesPart(api *kube.Client) (*roles.Manager, error) {
	m, err := roles.New(roles.Config{URL: os.Getenv("NATS_URL"), Bucket: "roles", InstanceID: os.Getenv("POD_NAME")})
	if err != nil {
		return nil, err
	}
	service := &kube.LeaderEndpoint{ // what the Service leads to
		Session: m.Session(), Service: "scheduler-leader", Ports: []kube.Port{{Name: "http", Port: 8080}}, Client: api,
	}
	label := kube.LeaderLabel{Client: api} // for people
	return m, m.Add(roles.Role{Name: "scheduler", Lead: service.Lead(label.Lead(lead))})
}

// lead is the work of the leader, beside the requests.
func lead(ctx context.Context, t *election.Term) error {
	log.Printf("leading %s at epoch %d", t.Role(), t.Epoch())
	<-ctx.Done()
	log.Printf("stopped leading %s: %v", t.Role(), context.Cause(ctx))
	return nil
}

// work answers a request that only the leader may serve. It may still come here after the term.
func work(w http.ResponseWriter, m *roles.Manager) {
	if e, ok := m.Election("scheduler"); !ok || !e.IsLeader() {
		http.Error(w, "another pod leads", http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, os.Getenv("POD_NAME"), "leads") // the client may have gone
}

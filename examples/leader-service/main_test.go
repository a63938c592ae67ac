package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/kube"
	"github.com/rolemanager/rolemanager/roles"
)

// TestRun: the leader sends its slice to the API server, which takes nothing here, and answers
// requests. A pod that does not lead refuses them. Both are ready.
func TestRun(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	posted := make(chan string, 1)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			select {
			case posted <- r.URL.Path:
			default:
			}
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer api.Close()
	for name, value := range map[string]string{"NATS_URL": s.URL(), "POD_NAME": "scheduler-0", "POD_IP": "10.0.0.1"} {
		t.Setenv(name, value)
	}
	owner, err := roles.New(roles.Config{URL: s.URL(), Bucket: "roles", BucketAutoCreate: true, WorkerOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 3)
	go func() { ended <- owner.Run(ctx) }()
	natstest.Eventually(t, "the bucket is there", 30*time.Second, func() (bool, string) {
		return owner.Status().Session > 0, ""
	})
	pod := func() (address string) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address = l.Addr().String()
		_ = l.Close() // the pod listens there
		go func() { ended <- run(ctx, address, &kube.Client{Address: api.URL, Namespace: "prod"}) }()
		natstest.Eventually(t, "the pod is ready", 30*time.Second, func() (bool, string) {
			status, body := get(address, "/readyz")
			return status == http.StatusOK, body
		})
		return address
	}
	leads := pod()
	if path := <-posted; path != "/apis/discovery.k8s.io/v1/namespaces/prod/endpointslices" {
		t.Errorf("the leader has posted to %s", path)
	}
	t.Setenv("POD_NAME", "scheduler-1")
	waits := pod()
	if status, body := get(leads, "/work"); status != http.StatusOK {
		t.Errorf("the leader answers %d, %s", status, body)
	}
	if status, body := get(waits, "/work"); status != http.StatusServiceUnavailable {
		t.Errorf("the other pod answers %d, %s", status, body)
	}
	stop()
	for range 3 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// get is the answer to a request, 0 for none.
func get(address, path string) (status int, body string) {
	r, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = r.Body.Close() }()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return 0, err.Error()
	}
	return r.StatusCode, string(text)
}

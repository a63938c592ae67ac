package guides

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/kube"
	"github.com/rolemanager/rolemanager/roles"
)

// TestInKubernetes: the leader sends its slice to the API server, which is none here, and leads.
func TestInKubernetes(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	posted := make(chan string, 1)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posted <- r.URL.Path
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer api.Close()
	for name, value := range map[string]string{"NATS_URL": s.URL(), "POD_NAME": "scheduler-0", "POD_IP": "10.0.0.1"} {
		t.Setenv(name, value)
	}
	led := make(chan struct{})
	m, err := inKubernetes(&kube.Client{Address: api.URL, Namespace: "prod"},
		func(ctx context.Context, _ *election.Term) error {
			close(led)
			<-ctx.Done()
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	owner, err := roles.New(roles.Config{URL: s.URL(), Bucket: "roles", BucketAutoCreate: true, WorkerOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	go func() { ended <- owner.Run(ctx) }()
	natstest.Eventually(t, "the bucket is there", 30*time.Second, func() (bool, string) {
		return owner.Status().Session > 0, ""
	})
	go func() { ended <- m.Run(ctx) }()
	<-led
	if path := <-posted; path != "/apis/discovery.k8s.io/v1/namespaces/prod/endpointslices" {
		t.Errorf("the leader has posted to %s", path)
	}
	stop()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

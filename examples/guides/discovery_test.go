package guides

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// TestDiscovered: a manager leads on a server that a file names.
func TestDiscovered(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	file := filepath.Join(t.TempDir(), "servers")
	if err := os.WriteFile(file, []byte(s.URL()+" west\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	led := make(chan struct{})
	m, err := discovered("file://"+file, "west", roles.Role{
		Name: "billing",
		Lead: func(ctx context.Context, _ *election.Term) error {
			close(led)
			<-ctx.Done()
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	select {
	case <-led:
	case err := <-ended:
		t.Fatalf("Run returned %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := discovered("zookeeper://a", ""); err == nil {
		t.Error("an unknown source is taken")
	}
}

// TestAnnounced: the leader is registered at the agent while it leads.
func TestAnnounced(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	asked := make(chan string, 100)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Path
		_, _ = io.WriteString(w, "[]")
	}))
	defer agent.Close()
	m, err := roles.New(roles.Config{URL: s.URL(), Bucket: "roles", BucketAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	role := announced(m, agent.URL, func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		return nil
	})
	if err := m.Add(role); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	for path := ""; path != "/v1/agent/service/register"; {
		select {
		case path = <-asked:
		case err := <-ended:
			t.Fatalf("Run returned %v", err)
		}
	}
}

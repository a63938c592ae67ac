package guides

import (
	"context"
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

package dashboard

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestWaitingOnThePage: the page shows which member waits to lead another role.
func TestWaitingOnThePage(t *testing.T) {
	t.Parallel()
	s := open(t, natstest.Server(t), nil)
	s.member("a", "local")
	s.led("local", "a")
	b := s.member("b")
	work := func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		return nil
	}
	local, err := b.Campaign(election.RoleConfig{Role: "local", Lead: work})
	if err != nil {
		t.Fatal(err)
	}
	global, err := b.Campaign(election.RoleConfig{Role: "global", While: local, Lead: work})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []*election.Election{local, global} {
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	natstest.Eventually(t, "the page shows it", patience, func() (bool, string) {
		r, err := http.Get(s.http.URL + "/role?name=global")
		if err != nil {
			return false, err.Error()
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusOK { // the role is not seen yet
			return false, r.Status
		}
		body := s.get("/role?name=global", http.StatusOK)
		return strings.Contains(body, "takes part, and waits to lead local"), body
	})
}

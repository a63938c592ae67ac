package election_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAPIPrefix: processes of two accounts take part in one role. One of the accounts has the
// bucket, and the other one imports its JetStream under a prefix.
func TestAPIPrefix(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		atHome := natstest.Connect(t, s, nats.UserInfo("a", "x"))
		if _, err := natskv.Create(t.Context(), atHome, natskv.Config{Bucket: bucket}); err != nil {
			t.Fatal(err)
		}
		cfg := election.SessionConfig{Bucket: bucket, InstanceID: "abroad", APIPrefix: "JS.A.API", TTL: time.Second}
		abroad := open(t, s, cfg, nats.UserInfo("b", "x"), nats.CustomInboxPrefix("_INBOX_b"))
		p, _ := lead(t, abroad, election.RoleConfig{Role: "r"})
		cfg = election.SessionConfig{Bucket: bucket, InstanceID: "home", TTL: time.Second}
		home := open(t, s, cfg, nats.UserInfo("a", "x"))
		q := campaign(t, home, election.RoleConfig{Role: "r"})
		time.Sleep(time.Minute)
		if !p.IsLeader() || q.IsLeader() || len(q.began) > 0 {
			t.Fatalf("a minute later: abroad leads: %t, home leads: %t", p.IsLeader(), q.IsLeader())
		}
		if ok, err := p.ValidateToken(t.Context()); !ok || err != nil {
			t.Errorf("it proves that it leads: %t, %v", ok, err)
		}
		if err := abroad.Close(t.Context()); err != nil {
			t.Error(err)
		}
		receive(t, "home leads", q.began)
	}, func(o *natsrun.Options) {
		file, err := server.ProcessConfigFile("testdata/accounts.conf")
		if err != nil {
			t.Fatal(err)
		}
		o.Configure = func(so *server.Options) { so.Accounts, so.Users = file.Accounts, file.Users }
	})
}

package election_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestImportThatDeliversNothing: an account that imports JetStream, and not the inboxes of its
// users, can ask for everything and sees nothing. The fault names the import and the export that is
// missing.
func TestImportThatDeliversNothing(t *testing.T) {
	text, err := os.ReadFile("testdata/accounts.conf")
	if err != nil {
		t.Fatal(err)
	}
	conf := filepath.Join(t.TempDir(), "accounts.conf")
	cut := strings.Replace(string(text), `{ stream: { account: A, subject: "_INBOX_b.>" } }`, "", 1)
	if cut == string(text) {
		t.Fatal("the accounts have another form")
	}
	if err := os.WriteFile(conf, []byte(cut), 0o600); err != nil {
		t.Fatal(err)
	}
	const export = "where JetStream is imported as JS.A.API, the account that keeps bucket \"roles\" has to export " +
		"the stream _INBOX_b.>"
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		if _, err := natskv.Create(t.Context(), natstest.Connect(t, s, nats.UserInfo("a", "x")),
			natskv.Config{Bucket: bucket}); err != nil {
			t.Fatal(err)
		}
		abroad := []nats.Option{nats.UserInfo("b", "x"), nats.CustomInboxPrefix("_INBOX_b")}
		session := unopened(t, election.SessionConfig{
			Bucket: bucket, InstanceID: "abroad", APIPrefix: "JS.A.API", TTL: time.Second,
		})
		events := session.Events(t.Context())
		if err := session.Open(within(t, 30*time.Second), natstest.Connect(t, s, abroad...)); err == nil {
			t.Error("it opens")
		}
		for {
			f, ok := receive(t, "a fault that names the export", events).(event.Fault)
			if ok && f.Doing == "watch bucket" && strings.Contains(f.Err.Error(), export) {
				break
			}
		}
		_, err := election.Observe(within(t, 30*time.Second), natstest.Connect(t, s, abroad...), bucket,
			election.WithAPIPrefix("JS.A.API"))
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), export) {
			t.Errorf("an observer: %v", err)
		}
	}, func(o *natsrun.Options) {
		file, err := server.ProcessConfigFile(conf)
		if err != nil {
			t.Fatal(err)
		}
		o.Configure = func(so *server.Options) { so.Accounts, so.Users = file.Accounts, file.Users }
	})
}

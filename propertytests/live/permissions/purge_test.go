package permissions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// rollUp writes a record which says that it takes the place of all others, of its subject or of the
// whole stream. It returns what the server has to say against it.
func rollUp(t *testing.T, nc *nats.Conn, subject, what string) string {
	t.Helper()
	m, err := nc.RequestMsg(&nats.Msg{Subject: subject, Header: nats.Header{"Nats-Rollup": {what}}, Data: []byte("x")},
		time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if said := string(m.Data); strings.Contains(said, "error") {
		return said
	}
	return ""
}

// TestWhoMayWriteOneRecordCanPurgeTheBucket: expiry markers need a stream that allows roll-ups (the
// server insists on it), and a roll-up of the whole stream is a header of any record. It is worth
// what a candidate can do with kills: who leads loses its session, or ends by its clock if it hears
// nothing, and epochs keep rising. If this fails because the server refuses it, the documents may
// promise more.
func TestWhoMayWriteOneRecordCanPurgeTheBucket(t *testing.T) {
	for user, subject := range map[string]string{"b": "$KV.roles.probe.b", "w": "$KV.roles.w.lease.w"} {
		t.Run(user, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				var heard denials
				v := leads(t, s, &heard)
				if said := rollUp(t, as(t, s, user, &heard), subject, "all"); said != "" {
					t.Fatal(said)
				}
				v.losesFor(t)
				if said := heard.all(t); said != "" {
					t.Errorf("the server complains:\n%s", said)
				}
			}, published(t))
		})
	}
}

// TestNobodyPurgesTasks: neither their stream nor that of their large outputs takes a roll-up, from
// any user, and whatever it is to take the place of.
func TestNobodyPurgesTasks(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var heard denials
		v := leads(t, s, &heard)
		for _, what := range []string{"all", "sub"} {
			for user, subject := range map[string]string{
				"owner": "$KV.TASKS_jobs.q.x", "a": "$KV.TASKS_jobs.seal", "s": "$KV.TASKS_jobs.q.x",
				"w": "$KV.OBJ_TASKS_jobs.x.0",
			} {
				nc := v.owner
				if user != "owner" {
					nc = as(t, s, user, &heard)
				}
				if said := rollUp(t, nc, subject, what); !strings.Contains(said, "rollup") {
					t.Errorf("%s has rolled up %s of the tasks: %q", user, what, said)
				}
			}
		}
		if said := heard.all(t); said != "" {
			t.Errorf("the server complains:\n%s", said)
		}
	}, published(t))
}

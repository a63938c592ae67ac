package permissions_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

// limited are the users of testdata/permissions.conf but for the owner.
var limited = []string{"a", "b", "w", "s", "k", "o", "pg", "op", "g", "f", "r"}

// TestEverythingElseIsRefused tries every subject with every user: those that the list names get
// through, the server refuses all others. There are no streams, so that what gets through does
// nothing.
//
// So a candidate for one role cannot write another, an observer writes nothing, a worker cannot
// report for another (the report's subject ends in the instance), a submitter cannot hand out, and
// nobody but the owner touches a stream.
func TestEverythingElseIsRefused(t *testing.T) {
	s := natstest.Server(t, published(t))
	rules := slices.Clone(publishing)
	for _, stream := range streams {
		for _, verb := range ofTheOwner {
			rules = append(rules, rule{verb + stream, ""})
		}
		for _, verb := range ofTheOwnerNamed {
			rules = append(rules, rule{verb + stream + ".x", ""})
		}
	}
	refused := 0
	for _, user := range limited {
		var heard denials
		nc := as(t, s, user, &heard)
		for _, r := range rules {
			denied := complains(t, nc, "Publish", r.subject, func() error { return nc.Publish(r.subject, nil) })
			refused += judge(t, user, "publish to", r, denied)
		}
		for _, r := range subscribing {
			denied := complains(t, nc, "Subscription", r.subject, func() error {
				sub, err := nc.SubscribeSync(r.subject)
				if err == nil {
					err = sub.Unsubscribe()
				}
				return err
			})
			refused += judge(t, user, "subscribe to", r, denied)
		}
	}
	t.Logf("%d subjects for each of %d users, %d refused", len(rules)+len(subscribing), len(limited), refused)
}

func judge(t *testing.T, user, doing string, r rule, denied bool) int {
	t.Helper()
	switch may := slices.Contains(strings.Fields(r.users), user); {
	case may && denied:
		t.Errorf("%s may not %s %s, and has to", user, doing, r.subject)
	case !may && !denied:
		t.Errorf("%s may %s %s, and must not", user, doing, r.subject)
	}
	if denied {
		return 1
	}
	return 0
}

// complains reports whether the server refuses what is done. Its complaint comes before the answer
// to a ping sent after it.
func complains(t *testing.T, nc *nats.Conn, what, subject string, do func() error) bool {
	t.Helper()
	before := nc.LastError()
	if err := do(); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	last := nc.LastError()
	if last == before {
		return false
	}
	if text := last.Error(); !strings.Contains(text, "Permissions Violation for "+what) ||
		!strings.Contains(text, strconv.Quote(subject)) {
		t.Fatalf("%s %s: another complaint: %v", what, subject, last)
	}
	return true
}

// TestAnotherAccountIsAnotherWorld: a user of another account may do everything there, and reaches
// nothing here.
func TestAnotherAccountIsAnotherWorld(t *testing.T) {
	s := natstest.Server(t, published(t))
	var heard denials
	owner, stranger := as(t, s, "owner", &heard), as(t, s, "stranger", &heard)
	owns(t, owner)
	everything, err := stranger.SubscribeSync(">")
	if err != nil {
		t.Fatal(err)
	}
	ours, err := owner.SubscribeSync("$KV.>")
	if err != nil {
		t.Fatal(err)
	}
	for _, nc := range []*nats.Conn{owner, stranger} {
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	for _, subject := range []string{"$KV.roles.c.role.scheduler", "$KV.ledger.key"} {
		if err := stranger.Publish(subject, []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := stranger.Request("$JS.API.STREAM.INFO.KV_roles", nil, nats.DefaultTimeout); err != nil ||
		!strings.Contains(string(m.Data), "stream not found") {
		t.Errorf("the bucket is seen from another account: %v, %v", m, err)
	}
	if err := owner.Publish("$KV.roles.c.role.metrics", []byte("ours")); err != nil {
		t.Fatal(err)
	}
	if m, err := ours.NextMsg(nats.DefaultTimeout); err != nil || string(m.Data) != "ours" {
		t.Errorf("the first write to be heard is %v, %v, not our own", m, err)
	}
	if err := stranger.Flush(); err != nil {
		t.Fatal(err)
	}
	for {
		pending, _, err := everything.Pending()
		if err != nil {
			t.Fatal(err)
		}
		if pending == 0 {
			break
		}
		m, err := everything.NextMsg(nats.DefaultTimeout)
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Data) == "ours" {
			t.Errorf("heard in another account: %s", m.Subject)
		}
	}
}

package fencing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// held creates the bucket of the roles over js, with a role that somebody holds. It returns the
// token of that term, and what ends the term.
func held(t *testing.T, js jetstream.JetStream) (tok Token, end func()) {
	t.Helper()
	cfg := natskv.Config{Bucket: "roles", Reach: natskv.ReachOf(js)}
	if _, err := natskv.Create(t.Context(), js.Conn(), cfg); err != nil {
		t.Fatal(err)
	}
	kv := must(js.KeyValue(t.Context(), "roles"))
	epoch := must(kv.Create(t.Context(), "c.role.scheduler", []byte("term")))
	return NewToken("scheduler", "node-1", epoch, 0, testID), func() {
		must(kv.Update(t.Context(), "c.role.scheduler", []byte("next term"), epoch))
	}
}

func note(text string) *nats.Msg { return &nats.Msg{Subject: "$KV.roles.note", Data: []byte(text)} }

// reads tells what js has at the key of a note, "" for nothing.
func reads(t *testing.T, js jetstream.JetStream) string {
	t.Helper()
	e, err := must(js.KeyValue(t.Context(), "roles")).Get(t.Context(), "note")
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(e.Value())
}

// TestPublishInADomain: a leader at a leaf node writes under its term into the bucket of the hub's
// domain, although the leaf node has a bucket of the same name. Without the prefix of the domain
// the condition is compared at the leaf node, which refuses the write: nothing is stored by
// mistake.
func TestPublishInADomain(t *testing.T) {
	h := natstest.Hub(t, natsrun.HubOptions{Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}}})
	atHub := must(jetstream.New(natstest.Connect(t, h.Server)))
	nc := natstest.Connect(t, h.Leaf(0))
	own, over := must(jetstream.NewWithDomain(nc, "site")), must(jetstream.NewWithDomain(nc, "hub"))
	tok, end := held(t, atHub)

	plain := func() error {
		m := note("plain")
		Condition(m, "roles", tok)
		_, err := over.PublishMsg(t.Context(), m)
		return err
	}
	if err := plain(); !errors.Is(err, jetstream.ErrNoStreamResponse) {
		t.Errorf("without a prefix, and without a bucket at the leaf node: %v", err)
	}
	held(t, own)
	if api := (*jetstream.APIError)(nil); !errors.As(plain(), &api) || api.ErrorCode != codeWrongLastSequence {
		t.Errorf("without a prefix: %v", api)
	}
	prefixed := note("by its subject")
	Condition(prefixed, "roles", tok)
	prefixed.Subject = "$JS.hub.API." + prefixed.Subject
	if _, err := over.PublishMsg(t.Context(), prefixed); err != nil || reads(t, atHub) != "by its subject" {
		t.Errorf("with the prefix: %v, stored %q", err, reads(t, atHub))
	}
	revision, err := Publish(t.Context(), over, note("published"), "roles", tok)
	if err != nil || revision <= tok.Epoch || reads(t, atHub) != "published" || reads(t, own) != "" {
		t.Errorf("published: %v; the hub has %q, the leaf node %q", err, reads(t, atHub), reads(t, own))
	}
	end()
	if _, err := Publish(t.Context(), over, note("late"), "roles", tok); !errors.Is(err, ErrStale) {
		t.Errorf("after the term: %v", err)
	}
	if got := reads(t, atHub); got != "published" {
		t.Errorf("after the term %q was stored", got)
	}
}

// TestPublishOverAnImport: the same into a bucket of another account, whose API is imported under a
// prefix.
func TestPublishOverAnImport(t *testing.T) {
	s := natstest.Server(t, func(o *natsrun.Options) {
		file, err := server.ProcessConfigFile("../election/testdata/accounts.conf")
		if err != nil {
			t.Fatal(err)
		}
		o.Configure = func(so *server.Options) { so.Accounts, so.Users = file.Accounts, file.Users }
	})
	owner := must(jetstream.New(natstest.Connect(t, s, nats.UserInfo("a", "x"))))
	nc := natstest.Connect(t, s, nats.UserInfo("b", "x"), nats.CustomInboxPrefix("_INBOX_b"))
	over := must(jetstream.NewWithAPIPrefix(nc, "JS.A.API"))
	tok, end := held(t, owner)
	_, err := Publish(t.Context(), over, note("published"), "roles", tok)
	if err != nil || reads(t, owner) != "published" {
		t.Errorf("published: %v, stored %q", err, reads(t, owner))
	}
	end()
	if _, err := Publish(t.Context(), over, note("late"), "roles", tok); !errors.Is(err, ErrStale) {
		t.Errorf("after the term: %v", err)
	}
}

// TestPublishRefuses: what cannot be written says so, and leaves the message of the caller as it
// was.
func TestPublishRefuses(t *testing.T) {
	js := must(jetstream.New(natstest.Connect(t, natstest.Server(t))))
	tok, _ := held(t, js)
	for subject, want := range map[string]error{
		"$KV.other.note": ErrKey, "note": ErrKey, "$KV.roles.": ErrKey, "$KV.roles.>": ErrKey,
		"$JS.hub.API.$KV.roles.note": ErrKey,
	} {
		if _, err := Publish(t.Context(), js, &nats.Msg{Subject: subject}, "roles", tok); !errors.Is(err, want) {
			t.Errorf("%s: %v", subject, err)
		}
	}
	if _, err := Publish(t.Context(), js, note("x"), "roles", Token{}); !errors.Is(err, ErrNoToken) {
		t.Errorf("without a token: %v", err)
	}
	m := note("x")
	_, err := Publish(t.Context(), js, m, "roles", tok)
	if err != nil || m.Subject != "$KV.roles.note" || m.Header != nil {
		t.Errorf("the message after: %+v, %v", m, err)
	}
	missing := &nats.Msg{Subject: "$KV.missing.note"}
	if _, err := Publish(t.Context(), js, missing, "missing", tok); !errors.Is(err, natskv.ErrBucketNotFound) ||
		!strings.Contains(err.Error(), "nothing was written") {
		t.Errorf("without a bucket: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cancel()
	if _, err := Publish(ctx, js, note("y"), "roles", tok); !errors.Is(err, context.Canceled) || reads(t, js) != "x" {
		t.Errorf("after the end of its context: %v", err)
	}
}

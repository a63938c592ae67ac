package election_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestAReconnectIntoAnotherSystemEndsTheSession: the list of servers mixes two systems, each with a
// bucket of this name and a leader. The session never leads in the second one: it ends, and says
// which buckets these are.
func TestAReconnectIntoAnotherSystemEndsTheSession(t *testing.T) {
	home, other := natstest.Server(t, natstest.Listen), natstest.Server(t, natstest.Listen)
	theirs, err := natskv.Create(t.Context(), natstest.Connect(t, other), natskv.Config{Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(home.URL()+","+other.URL(), nats.DontRandomize(), nats.MaxReconnects(-1),
		nats.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	s := unopened(t, instance("a"))
	if err := s.Open(t.Context(), nc); err != nil {
		t.Fatal(err)
	}
	p, _ := lead(t, s, election.RoleConfig{Role: "r"})
	home.Stop()
	select {
	case <-s.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the session continues")
	}
	found := (*election.OtherBucketError)(nil)
	if err := s.Err(); !errors.Is(err, election.ErrOtherBucket) || !errors.As(err, &found) ||
		found.Found.ID != theirs.Identity().ID || found.Opened.ID == "" || found.Opened.ID == found.Found.ID ||
		!strings.Contains(err.Error(), "set the domain") {
		t.Errorf("it ends with %v", err)
	}
	if len(p.began) > 0 {
		t.Error("it led again")
	}
	if state, err := theirs.Inspect(t.Context()); err != nil || state.Keys != 0 {
		t.Errorf("it has written %d records there, %v", state.Keys, err)
	}
}

// TestBucketID: a session that pins a bucket opens that one, and no other of its name.
func TestBucketID(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		nc := natstest.Connect(t, s)
		b, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucket})
		if err != nil {
			t.Fatal(err)
		}
		cfg := election.SessionConfig{Bucket: bucket, BucketID: b.Identity().ID, TTL: time.Second}
		pinned := unopened(t, cfg)
		if err := pinned.Open(t.Context(), nc); err != nil {
			t.Errorf("the bucket that is pinned: %v", err)
		}
		cfg.BucketID = "another"
		err = unopened(t, cfg).Open(t.Context(), nc)
		if !errors.Is(err, election.ErrOtherBucket) || !strings.Contains(err.Error(), "another") {
			t.Errorf("another one: %v", err)
		}
		cfg.BucketAutoCreate = true
		if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), "BucketID") {
			t.Errorf("with BucketAutoCreate: %v", err)
		}
	})
}

// TestNoDomain: where a JetStream domain answers and none is configured, a missing bucket is not
// created, and the error has both ways out. Each of them leads to one bucket and one leader, from
// the hub, and from leaf nodes with and without JetStream.
func TestNoDomain(t *testing.T) {
	h := natstest.Hub(t, natsrun.HubOptions{Domain: "hub", Leaves: []natsrun.LeafOptions{
		{Name: "site"}, {Name: "relay", NoJetStream: true}, {Name: "led", NoJetStream: true, DefaultDomain: "hub"},
	}})
	for i, s := range []*natsrun.Server{h.Server, h.Leaf(0).Server, h.Leaf(2).Server} {
		err := unopened(t, instance("x")).Open(t.Context(), natstest.Connect(t, s))
		domain := []string{"hub", "site", "hub"}[i]
		if !errors.Is(err, election.ErrNoDomain) || !strings.Contains(err.Error(), "Set Domain") ||
			!strings.Contains(err.Error(), "rolectl bucket create "+bucket+" --js-domain "+domain) {
			t.Errorf("in domain %s: %v", domain, err)
		}
	}
	missing := instance("x")
	missing.BucketAutoCreate = false
	err := unopened(t, missing).Open(t.Context(), natstest.Connect(t, h.Leaf(0)))
	if !errors.Is(err, election.ErrBucketNotFound) || !strings.Contains(err.Error(), `in JetStream domain "site": set Domain`) {
		t.Errorf("a bucket that is missing there: %v", err)
	}
	parts := map[string]*part{}
	sessions := map[string]*election.Session{}
	for i, s := range []*natsrun.Server{h.Server, h.Leaf(0).Server, h.Leaf(1).Server, h.Leaf(2).Server} {
		cfg := instance([]string{"hub", "site", "relay", "led"}[i])
		if cfg.InstanceID != "led" { // there the hub's domain answers by default
			cfg.Domain = "hub"
		}
		session := unopened(t, cfg)
		if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatalf("%s: %v", cfg.InstanceID, err)
		}
		sessions[cfg.InstanceID], parts[cfg.InstanceID] = session, campaign(t, session, election.RoleConfig{Role: "r"})
	}
	for len(sessions) > 0 { // each leads in turn
		leader := ""
		natstest.Eventually(t, "all see one another, and one leader", 10*time.Second, func() (bool, string) {
			leader = ""
			for id, p := range parts {
				if p.IsLeader() {
					leader = id
				}
			}
			for id, s := range sessions {
				if info, ok := s.Role("r"); leader == "" || !ok || info.Leader != leader || len(s.Members()) != len(sessions) {
					return false, fmt.Sprintf("%s sees %d members and %q, and %q leads", id, len(s.Members()), info.Leader, leader)
				}
			}
			return true, ""
		})
		for id, p := range parts {
			if id != leader && len(p.began) > 0 {
				t.Errorf("%s has begun a term beside %s", id, leader)
			}
		}
		if err := sessions[leader].Close(t.Context()); err != nil {
			t.Error(err)
		}
		delete(sessions, leader)
		delete(parts, leader)
	}
}

// TestStoreIsNoBucketOfRoles: neither sessions nor observers open the bucket of a fenced store, and
// the tokens of terms say of which bucket they are.
func TestStoreIsNoBucketOfRoles(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		_, term := lead(t, session, election.RoleConfig{Role: "r"})
		if from := term.Token().Source(); from == nil || from.Bucket != bucket || from.ID != session.BucketID() {
			t.Errorf("the token is of %v", from)
		}
		nc := natstest.Connect(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fencing.OpenStore(t.Context(), js, "ledger", term.Token(), fencing.WithCreate(1)); err != nil {
			t.Fatal(err)
		}
		cfg := instance("b")
		cfg.Bucket = "ledger"
		opened := unopened(t, cfg).Open(t.Context(), nc)
		_, observed := election.Observe(t.Context(), nc, "ledger")
		for what, err := range map[string]error{"a session": opened, "an observer": observed} {
			if !errors.Is(err, election.ErrBucketUnfit) || !strings.Contains(err.Error(), "it is the store of a role") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

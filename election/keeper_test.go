package election_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestNamesakeWithoutDomains: a hub and a leaf node both have a JetStream and no domain. A program
// that creates its bucket does so at one end only: at the other one it is refused, with the bucket
// that is used, until somebody has created one there by hand. When nobody uses the bucket at the
// other end, nobody says so.
func TestNamesakeWithoutDomains(t *testing.T) {
	h := natstest.Hub(t, natsrun.HubOptions{Leaves: []natsrun.LeafOptions{
		{Name: "site", Configure: func(so *server.Options) { so.JetStreamDomain = "" }},
	}})
	first := open(t, h.Server, instance("hub"))
	id := hasID(t, h.Server)
	beside := instance("beside") // the bucket is there
	if err := open(t, h.Server, beside).Close(t.Context()); err != nil {
		t.Error(err)
	}
	natstest.Hears(t, h.Leaf(0), natskv.KeeperSubject(bucket))
	err := unopened(t, instance("site")).Open(t.Context(), natstest.Connect(t, h.Leaf(0)))
	if !errors.Is(err, election.ErrNoDomain) || !strings.Contains(err.Error(), id) ||
		!strings.Contains(err.Error(), "set Domain") || !strings.Contains(err.Error(), "rolectl bucket create "+bucket) {
		t.Errorf("on the leaf node: %v", err)
	}
	found, err := natskv.Open(t.Context(), natstest.Connect(t, h.Leaf(0)), bucket)
	if !errors.Is(err, natskv.ErrBucketNotFound) {
		t.Fatalf("on the leaf node there is a bucket: %v, %v; at the hub there is %s", found.Identity(), err, id)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Error(err)
	}
	second := open(t, h.Leaf(0).Server, instance("site"))
	if other := hasID(t, h.Leaf(0).Server); other == id {
		t.Errorf("both are %s", id)
	}
	open(t, h.Server, instance("hub")) // its bucket is there, and is used although there is a namesake
	if err := second.Err(); err != nil {
		t.Error(err)
	}
}

func hasID(t *testing.T, s *natsrun.Server) string {
	t.Helper()
	b, err := natskv.Open(t.Context(), natstest.Connect(t, s), bucket)
	if err != nil {
		t.Fatal(err)
	}
	return b.Identity().ID
}

// TestKeeperWithoutPermission: a user who may not say which bucket it uses opens and leads. Only
// the server complains.
func TestKeeperWithoutPermission(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var complaints journal
		open(t, s, instance("owner"), as("owner", &complaints)...)
		lead(t, open(t, s, instance("a"), as("a", &complaints)...), election.RoleConfig{Role: "r"})
		said := complaints.String()
		if strings.Count(said, "a: ") != 1 || !strings.Contains(said, "$ROLES.roles.keeper") {
			t.Errorf("the server complains: %s", said)
		}
	}, with(user("a", leading("a", "r"), listening...)))
}

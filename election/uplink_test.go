package election_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestACutUplink: the process on a leaf node leads, and its site is cut off from the hub. Its term
// ends before the process at the hub leads. When the link is back, it is a candidate again.
func TestACutUplink(t *testing.T) {
	thorough.Only(t, "it waits for connections")
	t.Parallel()
	h := natstest.Hub(t, natsrun.HubOptions{Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}}})
	cfg := instance("site")
	cfg.Domain, cfg.TTL = "hub", 3*time.Second // a busy machine stands still for a second
	atSite, first := lead(t, open(t, h.Leaf(0).Server, cfg), election.RoleConfig{Role: "r"})
	cfg.InstanceID = "hub"
	hub := open(t, h.Server, cfg)
	atHub := campaign(t, hub, election.RoleConfig{Role: "r"})
	natstest.Eventually(t, "the hub sees the leader and is in line", 10*time.Second, func() (bool, string) {
		info, _ := hub.Role("r")
		return info.Leader == "site" && len(hub.Members()) == 2, info.Leader
	})
	h.Leaf(0).Uplink.Cut()
	second := receive(t, "the hub leads", atHub.began)
	if first.Valid() {
		t.Error("two terms at once")
	}
	if second.Epoch() <= first.Epoch() {
		t.Errorf("epoch %d after %d", second.Epoch(), first.Epoch())
	}
	h.Leaf(0).Uplink.Heal()
	natstest.Linked(t, h)
	natstest.Eventually(t, "the site is back", 20*time.Second, func() (bool, string) {
		return len(hub.Members()) == 2, ""
	})
	if err := hub.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if third := receive(t, "the site leads again", atSite.began); third.Epoch() <= second.Epoch() {
		t.Errorf("epoch %d after %d", third.Epoch(), second.Epoch())
	}
}

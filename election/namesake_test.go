package election_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestNamesakesDoNotHearEachOther: two sites of one NATS system each have a bucket, a role and
// instances of the same names. A request to step down at one site is answered by the instance of
// that site, and costs the other site nothing.
func TestNamesakesDoNotHearEachOther(t *testing.T) {
	h := natstest.Hub(t, natsrun.HubOptions{
		Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "east"}, {Name: "west"}},
	})
	var first, next [2]*part
	for i := range first {
		at := h.Leaf(i).Server
		nc := natstest.Connect(t, at)
		if _, err := natskv.Create(t.Context(), nc, natskv.Config{Bucket: bucket}); err != nil {
			t.Fatal(err)
		}
		cfg := instance("a")
		cfg.BucketAutoCreate = false
		first[i], _ = lead(t, open(t, at, cfg), election.RoleConfig{Role: "r"})
		cfg.InstanceID = "b"
		next[i] = campaign(t, open(t, at, cfg), election.RoleConfig{Role: "r"})
		natstest.Eventually(t, "b waits in line", time.Minute, func() (bool, string) {
			return first[i].Status().Successor == "b", sprint(first[i].Status())
		})
	}
	o, err := election.Observe(t.Context(), natstest.Connect(t, h.Leaf(1).Server), bucket)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for range 20 { // an answer of the namesake would come first now and then
		if err := o.Transfer(within(t, time.Minute), "r", "nobody", 0); err == nil {
			t.Fatal("the role was given to nobody")
		}
	}
	if successor, err := o.StepDown(within(t, time.Minute), "r", 0); successor != "b" || err != nil {
		t.Errorf("step-down in the west: successor %q, %v", successor, err)
	}
	receive(t, "b leads in the west", next[1].began)
	if !first[0].IsLeader() || len(next[0].began) > 0 {
		t.Error("the east was asked to step down in the west")
	}
	if first[1].IsLeader() {
		t.Error("a still leads in the west")
	}
}

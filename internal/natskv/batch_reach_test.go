package natskv

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestBatchReach: over a domain, a batch of as many writes as a server takes is stored whole, or
// not at all, from the hub, and from leaf nodes with and without JetStream of their own. That is
// how many roles are claimed at once.
func TestBatchReach(t *testing.T) {
	h := natstest.Hub(t, natsrun.HubOptions{
		Domain: "hub", Leaves: []natsrun.LeafOptions{{Name: "site"}, {Name: "relay", NoJetStream: true}},
	})
	reach, err := NewReach("hub", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), natstest.Connect(t, h), Config{Bucket: "b", Reach: reach}); err != nil {
		t.Fatal(err)
	}
	for place, s := range map[string]*natsrun.Server{
		"hub": h.Server, "site": h.Leaf(0).Server, "relay": h.Leaf(1).Server,
	} {
		nc := natstest.Connect(t, s)
		b, err := reach.Open(t.Context(), nc, "b")
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, nc, b)
		keys := make([]string, MaxBatch)
		for i := range keys {
			keys[i] = fmt.Sprintf("c.role.%s-%d", place, i)
		}
		claims := over(0, keys...)
		for i := range claims {
			claims[i].TTL = time.Minute
		}
		if r := each(t, w, claims); r.Outcome != Won {
			t.Fatalf("%s: %+v", place, r)
		}
		taken := over(0, "c.role."+place+"-free", keys[MaxBatch/2])
		if r := each(t, w, taken); r.Outcome != Refused || !r.NoneStored {
			t.Errorf("%s: with a role that is taken: %+v", place, r)
		}
		own := write(t, w, Write{Key: "own-" + place}, 5*time.Second)
		rotated := over(0, keys[0], keys[1])
		for i := range rotated {
			rotated[i].Guard = &Guard{Key: "own-" + place, Revision: own.Revision}
		}
		if r := each(t, w, rotated); r.Outcome != Won {
			t.Errorf("%s: with a guard: %+v", place, r)
		}
		stored, _, err := b.Keys(t.Context(), "c.role."+place+"-free")
		if err != nil || len(stored) != 0 {
			t.Errorf("%s: %v of a batch that was refused, %v", place, stored, err)
		}
	}
}

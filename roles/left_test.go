package roles_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// TestJoinedAndLeft: a role that is added and removed is told of at both ends, whether it is led
// here or not.
func TestJoinedAndLeft(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var mu sync.Mutex
		told := map[string][]string{}
		sink := func(c *roles.Config) {
			c.Sinks = append(c.Sinks, event.SinkFunc(func(e event.Event) {
				mu.Lock()
				defer mu.Unlock()
				me := event.MetaOf(e).Instance
				switch e := e.(type) {
				case event.RoleJoined:
					told[me+" "+e.Role] = append(told[me+" "+e.Role], "joined")
				case event.RolePromoted:
					told[me+" "+e.Role] = append(told[me+" "+e.Role], "promoted")
				case event.RoleDemoted:
					told[me+" "+e.Role] = append(told[me+" "+e.Role], "demoted")
				case event.RoleLeft:
					told[me+" "+e.Role] = append(told[me+" "+e.Role], "left")
				}
			}))
		}
		w := newWork()
		a := start(t, s, "a", one(w.role("stays")), sink)
		receive(t, "a term", w.began)
		if err := a.Add(w.role("goes")); err != nil {
			t.Fatal(err)
		}
		receive(t, "another term", w.began)
		b := start(t, s, "b", one(newWork().role("goes")), sink)
		natstest.Eventually(t, "b follows", patience, func() (bool, string) {
			e, _ := b.Election("goes")
			return e.LeaderID() == "a" && len(e.Status().Candidates) == 2, e.LeaderID()
		})
		for _, n := range []*node{b, a} {
			if err := n.Remove(t.Context(), "goes"); err != nil {
				t.Fatal(err)
			}
		}
		natstest.Settle(t)
		mu.Lock()
		defer mu.Unlock()
		for key, want := range map[string][]string{
			"a stays": {"joined", "promoted"},
			"a goes":  {"joined", "promoted", "demoted", "left"},
			"b goes":  {"joined", "left"},
		} {
			if !slices.Equal(told[key], want) {
				t.Errorf("%s: %v, want %v", key, told[key], want)
			}
		}
	})
}

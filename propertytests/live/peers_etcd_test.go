package live_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// etcd's concurrency package gets these wrong; each is shown to hold here.

// Its Campaign returns although its own key has expired: the answer to a claim comes when the
// session is long over.
func TestPeerEtcdPhantomLeader(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 2)
		var once sync.Once
		sub, err := a.Operator().Subscribe("$KV."+elections.Bucket+".c.role."+role, func(m *nats.Msg) {
			if strings.Contains(string(m.Data), `"id":"p2"`) {
				once.Do(func() { all[1].Link.Hold(natsrun.ToClient) }) // the answer is under way, and stays there
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = sub.Unsubscribe() }() // fails only with the connection
		all[1].Link.DelayDir(natsrun.ToClient, 300*time.Millisecond)
		time.Sleep(2 * ttl)
		if err := all[0].Elections[role].StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		a.Await("p2's claim is stored", role, ttl, func() bool { e, _ := a.RecordLog.Role(role); return e.Role.ID == "p2" })
		a.Await("another leads", role, 3*ttl, func() bool { l := a.Leader(role); return l != nil && l != all[1] })
		time.Sleep(ttl)
		all[1].Link.Heal()
		time.Sleep(3 * ttl)
		for _, h := range holds(a, 2) {
			if h.Process == all[1].String() {
				t.Errorf("a phantom: %v", h)
			}
		}
	})
}

// Its deadline counts from the reply: a slow one lengthens the belief in a lease that others began
// to count earlier.
func TestPeerEtcdDeadlineCountsFromSend(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		const late = 900 * time.Millisecond
		p := crowd(a, 2)[0]
		p.Link.DelayDir(natsrun.ToClient, late)
		time.Sleep(2 * ttl)
		longest := time.Duration(0)
		for end := time.Now().Add(2 * ttl); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			longest = max(longest, bridge.TrustedFor(p.Session))
		}
		if limit := ttl - margin - late; longest > limit || longest < limit-heartbeat {
			t.Errorf("the session is believed for up to %v after a reply that took %v, want %v", longest, late, limit)
		}
		if !p.Leads(role) {
			t.Error("slow replies cost the role")
		}
	})
}

// Ghost candidates block its queue: one that crashed stays at its head until its lease has run out.
func TestPeerEtcdGhostCandidates(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 5)
		for _, ghost := range all[1:4] {
			ghost.Crash()
		}
		began := time.Now()
		if err := all[0].Leave(); err != nil {
			t.Error(err)
		}
		a.AwaitLead(all[4], role, ttl)
		within(a, "leave to takeover past three ghosts", began, time.Now(), soon)
	})
}

// Its Observe never reports a vacancy.
func TestPeerEtcdObserveReportsVacancy(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		p := crowd(a, 1)[0]
		o, err := election.Observe(t.Context(), a.Operator(), elections.Bucket)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		events := o.Events(ctx)
		if info, _ := o.Role(role); info.Leader != "p1" {
			t.Errorf("the observer sees %+v", info)
		}
		if err := p.Leave(); err != nil {
			t.Error(err)
		}
		var seen []string
		for len(seen) < 2 {
			select {
			case e := <-events:
				switch e := e.(type) {
				case event.RoleVacant:
					seen = append(seen, fmt.Sprintf("vacant by %s: %s", e.By, e.Reason))
				case event.LeaderChanged:
					seen = append(seen, "leader "+e.Leader)
				}
			case <-time.After(ttl):
				t.Fatalf("the observer told of %q only", seen)
			}
		}
		if info, ok := o.Role(role); !ok || info.Leader != "" || !info.Vacant {
			t.Errorf("the observer sees %+v, told of %q", info, seen)
		}
	})
}

// A session of its serves many elections; so does ours, and each costs a follower no goroutine
// (theirs two).
func TestPeerEtcdOneSessionServesManyElections(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		const roles = 100
		first := a.Join(manyRoles("a", roles))
		a.Await("all roles are led", "role-0000", ttl, func() bool { return leads(first) == roles })
		second := a.Join(manyRoles("b", roles))
		time.Sleep(ttl)
		for i, role := range first.Roles { // every other one is handed over, under the same two sessions
			if i%2 == 0 {
				if err := first.Elections[role.Role].Transfer(t.Context(), "b"); err != nil {
					t.Fatal(err)
				}
			}
		}
		a.Await("they are shared", "role-0000", ttl,
			func() bool { return leads(first) == roles/2 && leads(second) == roles/2 })
		if n := a.Tally.Count("SessionOpened"); n != 2 {
			t.Errorf("%d sessions were opened, want 2", n)
		}
	})
}

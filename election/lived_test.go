package election_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestEndedSessionsLeaveNothing: sessions that were closed or killed, and roles that nobody leads
// any more, leave nothing in the bucket, and nobody remembers them.
func TestEndedSessionsLeaveNothing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		slow := func(id string) election.SessionConfig { // so that a day has few beats
			cfg := instance(id)
			cfg.TTL = time.Minute
			return cfg
		}
		leader := open(t, s, slow("a"))
		lead(t, leader, election.RoleConfig{Role: "ours"})
		o := observe(t, s)
		b, err := natskv.Open(t.Context(), natstest.Connect(t, s), bucket)
		if err != nil {
			t.Fatal(err)
		}
		records := func() uint64 {
			t.Helper()
			state, err := b.Inspect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return state.Keys
		}
		const sessions = 100
		for i := range sessions {
			nc := natstest.Connect(t, s)
			session := unopened(t, slow(fmt.Sprint("short.", i)))
			if err := session.Open(t.Context(), nc); err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 {
				lead(t, session, election.RoleConfig{Role: fmt.Sprint("former.", i)})
			}
			if i%2 == 0 {
				if err := session.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			} else {
				nc.Close() // it is killed
			}
		}
		if n := records(); n < sessions {
			t.Errorf("%d records right after %d sessions: is anything of them there?", n, sessions)
		}
		time.Sleep(10 * time.Minute)
		if n := records(); n > 3+sessions/10 {
			t.Errorf("%d records ten minutes after %d sessions, want three of the leader and the vacant roles", n, sessions)
		}
		time.Sleep(25 * time.Hour)
		if n := records(); n != 3 {
			t.Errorf("%d records a day later, want three of the leader", n)
		}
		if all := o.Roles(); len(all) != 1 {
			t.Errorf("an observer knows %d roles, want one", len(all))
		}
		if all := leader.Roles(); len(all) != 1 {
			t.Errorf("the leader knows %d roles, want one", len(all))
		}
	})
}

package election_test

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

var sessions = flag.Int("election.sessions", thorough.Pick(20, 100),
	"how many short sessions a bucket sees that is to be left empty")

// TestEndedSessionsLeaveNothing: sessions that were closed or killed, and roles that nobody leads
// any more, leave nothing in the bucket, and nobody remembers them.
func TestEndedSessionsLeaveNothing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		slow := func(id string) election.SessionConfig { // so that a day has few beats, and no files
			cfg := instance(id)
			cfg.TTL, cfg.Storage = time.Minute, jetstream.MemoryStorage
			return cfg
		}
		slowest := slow("a")
		slowest.TTL = natskv.DefaultMaxTTL
		leader := open(t, s, slowest)
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
		begun := time.Now()
		for i := range *sessions {
			nc, err := s.Connect()
			if err != nil {
				t.Fatal(err)
			}
			session, err := election.NewSession(slow(fmt.Sprint("short.", i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := session.Open(t.Context(), nc); err != nil {
				t.Fatal(err)
			}
			if i%10 == 0 && i < 1000 {
				lead(t, session, election.RoleConfig{Role: fmt.Sprint("former.", i)})
			}
			if i%2 == 0 {
				if err := session.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			nc.Close()                     // one that was not closed is killed
			_ = session.Close(t.Context()) // it can write nothing more, and leaves the test
			time.Sleep(100 * time.Millisecond)
		}
		if n := records(); n < uint64(min(*sessions, 100)) {
			t.Errorf("%d records right after %d sessions: is anything of them there?", n, *sessions)
		}
		took := time.Since(begun)
		time.Sleep(10 * time.Minute)
		n := records()
		if n > 3+uint64(min(*sessions, 1000))/10 {
			t.Errorf("%d records ten minutes after %d sessions, want three of the leader and the vacant roles", n, *sessions)
		}
		t.Logf("%d sessions in %v (virtual) left %d records ten minutes later", *sessions, took, n)
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

// TestNamesThatComeAndGo: of roles with a fresh name for each job a thousand stay in the bucket for
// a day, so that people see them. Every other one leaves with a lease time, and nobody knows of it
// any more.
func TestNamesThatComeAndGo(t *testing.T) {
	thorough.Only(t, "it leads 1,200 roles in turn")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		leader := open(t, s, instance("a"))
		lead(t, leader, election.RoleConfig{Role: "ours"})
		o, session := observe(t, s), open(t, s, instance("b"))
		const names, kept = 1200, 1000
		epoch := uint64(0)
		cycle := func(name string) {
			t.Helper()
			e, term := lead(t, session, election.RoleConfig{Role: name})
			if term.Epoch() <= epoch {
				t.Fatalf("epoch %d of %s after %d", term.Epoch(), name, epoch)
			}
			epoch = term.Epoch()
			if err := e.Stop(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range names {
			cycle(fmt.Sprint("job.", i))
		}
		last := fmt.Sprint("job.", names-1)
		if info, ok := o.Role("job.1"); !ok || !info.Vacant || info.By != "b" {
			t.Errorf("an early role: %t, %+v", ok, info)
		}
		natstest.Eventually(t, "the last one is shown as vacant", time.Minute, func() (bool, string) {
			for _, info := range o.Roles() {
				if info.Role == last {
					return info.Vacant && info.By == "b" && info.Reason != "", sprint(info)
				}
			}
			return false, "it is not shown"
		})
		cycle(last) // over the marker
		time.Sleep(10 * time.Minute)
		cycle(last) // and over nothing
		time.Sleep(10 * time.Minute)
		if info, ok := o.Role(last); ok {
			t.Errorf("an observer knows a role that was removed when it was given up: %+v", info)
		}
		for who, n := range map[string]int{"an observer": len(o.Roles()), "a leader": len(leader.Roles())} {
			if n != kept+1 {
				t.Errorf("%s knows %d roles, want %d and the leader's own", who, n, kept)
			}
		}
		b, err := natskv.Open(t.Context(), natstest.Connect(t, s), bucket)
		if err != nil {
			t.Fatal(err)
		}
		state, err := b.Inspect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if most := uint64(kept + 10); state.Keys > most { // leases, members, beats
			t.Errorf("%d records, want at most %d", state.Keys, most)
		}
	})
}

// TestRolesOfACrashedProcess: they are vacant when nobody who wants them has come for the longest
// TTL, and leave after a day as others do.
func TestRolesOfACrashedProcess(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.TTL, cfg.Storage = natskv.DefaultMaxTTL, jetstream.MemoryStorage // so that a day has few beats and no files
		leader := open(t, s, cfg)
		lead(t, leader, election.RoleConfig{Role: "ours"})
		o := observe(t, s)
		nc, err := s.Connect()
		if err != nil {
			t.Fatal(err)
		}
		crashes := unopened(t, instance("b"))
		if err := crashes.Open(t.Context(), nc); err != nil {
			t.Fatal(err)
		}
		lead(t, crashes, election.RoleConfig{Role: "theirs"})
		nc.Close()
		time.Sleep(time.Minute)
		if info, ok := o.Role("theirs"); !ok || info.State != election.RoleDead {
			t.Errorf("after a minute: %t, %+v", ok, info)
		}
		time.Sleep(natskv.DefaultMaxTTL)
		if info, ok := o.Role("theirs"); !ok || !info.Vacant || info.By != "b" || info.Reason != "session ended" {
			t.Errorf("after the longest TTL: %t, %+v", ok, info)
		}
		if !thorough.Larger() {
			return // TestEndedSessionsLeaveNothing has a day of such roles
		}
		time.Sleep(25 * time.Hour)
		if info, ok := o.Role("theirs"); ok {
			t.Errorf("a day later: %+v", info)
		}
	})
}

// TestInstanceComesBack: an instance with an id of its own that has ended its session leads at once
// when it comes back, however long it was away, and so it does when it was killed.
func TestInstanceComesBack(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		patient := instance("b")
		patient.TTL = 10 * time.Second // hours of it have few beats
		lead(t, open(t, s, patient), election.RoleConfig{Role: "theirs"})
		for away := range 12 {
			for _, killed := range []bool{false, true} {
				nc := natstest.Connect(t, s)
				session := unopened(t, instance("a"))
				begun := time.Now()
				if err := session.Open(t.Context(), nc); err != nil {
					t.Fatal(err)
				}
				lead(t, session, election.RoleConfig{Role: "ours"})
				if took := time.Since(begun); took > time.Second {
					t.Errorf("away for %d minutes: it leads after %v", away, took)
				}
				if !killed {
					if err := session.Close(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				nc.Close()
				time.Sleep(time.Minute + time.Duration(away)*time.Minute) // a minute more, so that the other one has killed it
			}
		}
	})
}

// TestWantedRoleIsRemembered: a role whose only candidate is paused for a day keeps its record and
// its reason, and is led again at once when the candidate is resumed, at a higher epoch. So is a
// role that was removed meanwhile.
func TestWantedRoleIsRemembered(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.TTL, cfg.Storage = natskv.DefaultMaxTTL, jetstream.MemoryStorage // so that a day has few beats and no files
		session := open(t, s, cfg)
		e, term := lead(t, session, election.RoleConfig{Role: "wanted"})
		if err := e.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(26 * time.Hour)
		o := observe(t, s)
		info, ok := o.Role("wanted")
		if !ok || !info.Vacant || info.By != "a" || info.Reason == "" {
			t.Errorf("after a day: %t, %+v", ok, info)
		}
		if err := o.Remove(t.Context(), "wanted"); !errors.Is(err, election.ErrRoleKept) {
			t.Errorf("a role that is wanted is removed: %v", err)
		}
		resumed := time.Now()
		if err := e.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		next := receive(t, "it leads again", e.began)
		if took := time.Since(resumed); took > time.Second {
			t.Errorf("it leads again after %v", took)
		}
		if next.Epoch() <= term.Epoch() {
			t.Errorf("epoch %d after %d", next.Epoch(), term.Epoch())
		}
	})
}

// TestRemovedRoleIsLedAtOnce: with the marker of its removal in the bucket, and without.
func TestRemovedRoleIsLedAtOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.TTL = time.Minute
		session, o := open(t, s, cfg), observe(t, s)
		epoch := uint64(0)
		for _, after := range []time.Duration{0, time.Second, 10 * time.Minute} {
			begun := time.Now()
			e, term := lead(t, session, election.RoleConfig{Role: "r"})
			if took := time.Since(begun); took > time.Second || term.Epoch() <= epoch {
				t.Errorf("led %v after its removal: after %v, at epoch %d", after, took, term.Epoch())
			}
			epoch = term.Epoch()
			if err := e.Stop(); err != nil {
				t.Fatal(err)
			}
			natstest.Eventually(t, "an observer knows of the role", time.Minute, func() (bool, string) {
				return len(o.Roles()) == 1, ""
			})
			var kept *election.RoleKeptError
			if err := o.Remove(t.Context(), "r"); !errors.As(err, &kept) || kept.Reason == election.KeptForced {
				t.Errorf("removed at once: %v", err)
			}
			time.Sleep(3 * time.Minute)
			if err := o.Remove(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			time.Sleep(after)
			natstest.Eventually(t, "an observer knows of no role", time.Minute, func() (bool, string) {
				info, _ := o.Role("r")
				return len(o.Roles()) == 0, fmt.Sprintf("%+v", info)
			})
		}
	})
}

package election_test

import (
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestZoneOfTheEnvironment: a process that does not say where it is takes that from ROLES_ZONE.
func TestZoneOfTheEnvironment(t *testing.T) {
	t.Setenv("ROLES_ZONE", "dc2")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("b")
		cfg.Zone = "dc1"
		a, b := open(t, s, instance("a")), open(t, s, cfg)
		if a.Config().Zone != "dc2" || b.Config().Zone != "dc1" {
			t.Errorf("zones %q and %q", a.Config().Zone, b.Config().Zone)
		}
	})
}

func TestMembersAndMeta(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.Meta = map[string]string{"zone": "north"}
		cfg.Zone = "dc1"
		a, b := open(t, s, cfg), open(t, s, instance("b"))
		campaign(t, a, election.RoleConfig{Role: "one"})
		campaign(t, a, election.RoleConfig{Role: "two"})
		natstest.Eventually(t, "b sees a's roles", time.Minute, func() (bool, string) {
			all := b.Members()
			return len(all) == 2 && sprint(all[0].Roles) == "[one two]", sprint(all)
		})
		m := b.Members()
		if m[0].Instance != "a" || m[0].Session != bridge.Number(a) || m[0].Meta["zone"] != "north" || !m[0].Described ||
			m[0].TTL != time.Second || m[0].LastSeen < 0 || m[0].WorkerOnly || m[0].Draining ||
			m[0].Zone != "dc1" || m[1].Instance != "b" || m[1].Zone != "" {
			t.Errorf("members %+v", m)
		}

		meta := map[string]string{"zone": "south", "http": "127.0.0.1:80"}
		if err := a.SetMeta(t.Context(), meta); err != nil {
			t.Fatal(err)
		}
		meta["zone"] = "changed by its owner afterwards"
		natstest.Eventually(t, "b sees it", time.Minute, func() (bool, string) {
			all := b.Members()
			return all[0].Meta["zone"] == "south" && all[0].Meta["http"] == "127.0.0.1:80", sprint(all)
		})
		if err := a.SetMeta(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "it is gone", time.Minute, func() (bool, string) {
			all := b.Members()
			return len(all[0].Meta) == 0 && len(all[0].Roles) == 2, sprint(all)
		})
		if err := a.SetMeta(ended(), nil); err == nil {
			t.Error("no error though the context had ended")
		}
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.SetMeta(t.Context(), nil); !errors.Is(err, election.ErrClosed) {
			t.Errorf("after the end: %v, want %v", err, election.ErrClosed)
		}
		natstest.Eventually(t, "a is gone", time.Minute,
			func() (bool, string) { return len(b.Members()) == 1, sprint(b.Members()) })
	})
}

// TestMetaOutlivesTheLease: the next session of the process publishes it again.
func TestMetaOutlivesTheLease(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		a := open(t, s, instance("a"), link.Options()...)
		if err := a.SetMeta(t.Context(), map[string]string{"zone": "north"}); err != nil {
			t.Fatal(err)
		}
		first := bridge.Number(a)
		link.Hold(natsrun.ToServer)
		natstest.Eventually(t, "the session is lost", time.Minute,
			func() (bool, string) { return bridge.Number(a) == 0, sprint(bridge.Number(a)) })
		link.Heal()
		o := observe(t, s)
		natstest.Eventually(t, "the next one says it", time.Minute, func() (bool, string) {
			all := o.Members()
			return len(all) == 1 && all[0].Session > first && all[0].Meta["zone"] == "north", sprint(all)
		})
	})
}

func TestRolesAndStatus(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		closed := unopened(t, instance("z"))
		if closed.Roles() != nil || closed.Members() != nil {
			t.Error("a session that was never opened sees something")
		}
		a, b := open(t, s, instance("a")), open(t, s, instance("b"))
		pa, term := lead(t, a, election.RoleConfig{Role: "one", Priority: 5})
		pb := campaign(t, b, election.RoleConfig{Role: "one", Priority: 7})
		campaign(t, b, election.RoleConfig{Role: "two"})
		natstest.Eventually(t, "both roles are led", time.Minute, func() (bool, string) {
			all := a.Roles()
			return len(all) == 2 && all[0].Leader == "a" && all[1].Leader == "b" && all[0].Successor == "b", sprint(all)
		})
		if _, ok := a.Role("three"); ok {
			t.Error("a role that nobody has heard of")
		}
		natstest.Eventually(t, "a status as a page shows it", time.Minute, func() (bool, string) {
			st := pa.Status()
			return st.Role == "one" && st.State == election.StateLeader && st.IsLeader && st.LeaderID == "a" &&
				st.Successor == "b" &&
				st.Epoch == term.Epoch() && st.Revision == term.Epoch() && st.Priority == 5 && !st.LastHeartbeat.IsZero() &&
				!st.LastTransition.IsZero() && len(st.Candidates) == 2 && st.Reason == "", sprint(st)
		})
		st := pb.Status()
		if st.State != election.StateFollower || st.IsLeader || st.LeaderID != "a" || st.Epoch != term.Epoch() ||
			st.Priority != 7 {
			t.Errorf("of the follower: %+v", st)
		}
		if got, err := st.State.MarshalText(); string(got) != "FOLLOWER" || err != nil {
			t.Errorf("state as text: %s, %v", got, err)
		}
		at, took := a.LastHeartbeat()
		if time.Since(at) > time.Second || took < 0 || !a.Connected() || bridge.TrustedFor(a) <= 0 {
			t.Errorf("heartbeat %v ago in %v, connected %v, believes for %v", time.Since(at), took, a.Connected(),
				bridge.TrustedFor(a))
		}
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if bridge.TrustedFor(a) >= 0 || pa.Status().State != election.StateStopped {
			t.Errorf("after the end: believes for %v, %+v", bridge.TrustedFor(a), pa.Status())
		}
	})
}

// TestStuckWorkIsReported: work that ignores its context keeps its role, shows as stuck, and holds
// up nothing else.
func TestStuckWorkIsReported(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		p := slowly(t, session, "stuck", time.Minute)
		other, _ := lead(t, session, election.RoleConfig{Role: "other"})
		rival := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "stuck"})
		if err := p.StopWithContext(t.Context(), election.StopOptions{DeleteKey: true}); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "it is reported", 2*time.Second, func() (bool, string) {
			st := p.Status()
			return st.Stuck && st.State == election.StateDemoted && len(ofType[event.RoleStuck](sink)) == 1, sprint(st)
		})
		time.Sleep(30 * time.Second)
		none(t, "promotion beside the stuck work", rival.began)
		if !other.IsLeader() {
			t.Error("the other role was lost")
		}
		receive(t, "rival's promotion once it has returned", rival.began)
		receive(t, "end", after(p.Done()))
	})
}

// TestVacateUndrained: a process configured so gives the role away though the work still runs.
func TestVacateUndrained(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		release := make(chan struct{})
		p := newPart()
		var err error
		if p.Election, err = open(t, s, instance("a")).Campaign(election.RoleConfig{
			Role: "stuck", VacateUndrained: true, Lead: p.untilReleased(release),
		}); err != nil {
			t.Fatal(err)
		}
		p.start(t)
		rival := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "stuck"})
		if err := p.StopWithContext(t.Context(), election.StopOptions{DeleteKey: true}); err != nil {
			t.Fatal(err)
		}
		stopped := time.Now()
		receive(t, "rival's promotion", rival.began)
		if waited := time.Since(stopped); waited < time.Second {
			t.Errorf("given away after %v, want DrainTimeout", waited)
		}
		close(release)
		receive(t, "end", after(p.Done()))
	})
}

// TestIdleMembersAreSeen: a leader and an observer are sent the heartbeats of idle members. Another
// candidate knows since when they are idle.
func TestIdleMembersAreSeen(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b, c := open(t, s, instance("a")), open(t, s, instance("b")), open(t, s, instance("c"))
		lead(t, a, election.RoleConfig{Role: "r"})
		o := observe(t, s)
		const idle = 2 * time.Minute
		time.Sleep(idle) // virtual
		of := func(all []election.MemberInfo) election.MemberInfo {
			for _, m := range all {
				if m.Instance == "b" {
					return m
				}
			}
			return election.MemberInfo{}
		}
		for who, m := range map[string]election.MemberInfo{"the leader": of(a.Members()), "an observer": of(o.Members())} {
			if !m.Idle || m.LastSeen >= m.TTL || m.TTL != 5*time.Second {
				t.Errorf("%s sees %+v", who, m)
			}
		}
		if m := of(c.Members()); !m.Idle || m.LastSeen < idle-10*time.Second || m.LastSeen > idle {
			t.Errorf("another candidate sees %+v", m)
		}
		if m := of(observe(t, s).Members()); !m.Idle || m.LastSeen >= m.TTL {
			t.Errorf("a new observer sees %+v", m)
		}
		if m := of(b.Members()); m.LastSeen < 0 {
			t.Errorf("it sees itself as %+v", m)
		}
	})
}

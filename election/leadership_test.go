package election_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func stateIs(want election.Leadership) func(election.RoleInfo) bool {
	return func(i election.RoleInfo) bool { return i.State == want }
}

// TestSilentLeader: a leader that nobody can replace is seen as silent one TTL after its last
// heartbeat, also by an observer that comes later, and both tell how long ago that was.
func TestSilentLeader(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		session := open(t, s, instance("a"), link.Options()...)
		o := observe(t, s)
		lead(t, session, election.RoleConfig{Role: "r"})
		time.Sleep(10 * time.Second)
		if info, _ := o.Role("r"); info.State != election.RoleLeading || info.LastSeen > time.Second {
			t.Errorf("while a leads: %+v", info)
		}
		link.Cut()
		time.Sleep(30 * time.Second)
		for name, o := range map[string]*election.Observer{"from before": o, "late": observe(t, s)} {
			info, _ := o.Role("r")
			if info.State != election.RoleSilent || info.Leader != "a" || info.LastSeen.Round(2*time.Second) != 30*time.Second ||
				info.Since.Round(2*time.Second) != 40*time.Second {
				t.Errorf("observer %s, 30 s after the last heartbeat: %+v", name, info)
			}
		}
		link.Heal()
	})
}

// TestLeadershipOfASucceededRole: killed, taken over, given up: each has its state, and the
// successor tells for how long nobody led.
func TestLeadershipOfASucceededRole(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		first := open(t, s, instance("a"), append(link.Options(), nats.MaxReconnects(-1))...)
		o := observe(t, s)
		events := first.Events(t.Context())
		lead(t, first, election.RoleConfig{Role: "r"})
		if gap := promoted(t, events).Gap; gap != 0 {
			t.Errorf("the first leader tells of a former one, %v ago", gap)
		}
		second := open(t, s, instance("b"))
		events = second.Events(t.Context())
		p := campaign(t, second, election.RoleConfig{Role: "r"})
		time.Sleep(5 * time.Second)
		link.Cut()
		receive(t, "b leads", p.began)
		if gap := promoted(t, events).Gap; gap < time.Second || gap > 2*time.Second {
			t.Errorf("after a was cut off, nobody led for %v; its TTL is 1 s", gap)
		}
		sees(t, o, "r", "led by b", func(i election.RoleInfo) bool {
			return i.Leader == "b" && i.State == election.RoleLeading
		})
		if err := p.Stop(); err != nil {
			t.Fatal(err)
		}
		info := sees(t, o, "r", "vacant", stateIs(election.RoleVacant))
		time.Sleep(time.Minute)
		later, _ := o.Role("r")
		grown := later.LastSeen - info.LastSeen
		if grown.Round(time.Second) != time.Minute || later.LastSeen > time.Minute*3/2 {
			t.Errorf("a minute after b gave it up: %+v", later)
		}
		link.Heal()
	})
}

func promoted(t *testing.T, events <-chan event.Event) event.RolePromoted {
	t.Helper()
	for {
		if e, ok := receive(t, "a promotion", events).(event.RolePromoted); ok {
			return e
		}
	}
}

// TestDeadLeader: nobody has claimed the role of a session that was ended. It is dead since that
// end, however long the session had led, also for an observer that comes later.
func TestDeadLeader(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		lead(t, open(t, s, instance("a"), link.Options()...), election.RoleConfig{Role: "r"})
		o := observe(t, s)
		time.Sleep(5 * time.Minute)
		open(t, s, instance("b")) // wants another role, and ends dead sessions all the same
		link.Cut()
		info := sees(t, o, "r", "dead", stateIs(election.RoleDead))
		if info.Leader != "" || info.LastSeen < time.Second || info.LastSeen > 3*time.Second {
			t.Errorf("after a was killed: %+v", info)
		}
		time.Sleep(time.Minute)
		for name, o := range map[string]*election.Observer{"from before": o, "late": observe(t, s)} {
			info, _ := o.Role("r")
			if info.State != election.RoleDead || info.Since.Round(2*time.Second) != time.Minute ||
				info.LastSeen < info.Since || info.LastSeen > info.Since+3*time.Second {
				t.Errorf("observer %s, a minute after a was killed: %+v", name, info)
			}
		}
		link.Heal()
	})
}

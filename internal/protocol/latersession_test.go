package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestALaterSessionOfOurs: the record of a role names a session of ours that is later than the one
// that continues: the store has lost what was written of it. Nobody would ever claim the role; so
// ours ends, once the next one is sure to be later still.
func TestALaterSessionOfOurs(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(3*time.Second, nil)
	term, later := g.begin("r").Epoch, g.rev+20
	g.effs = nil
	g.sees(record.RoleKey("r"), record.Role{V: record.Version, TTLms: 6000, ID: "a", Session: later, Token: "t"})
	g.step(Drained{"r", term})
	lost := func() (n int) {
		for _, e := range g.effs {
			if _, ok := e.(Lost); ok {
				n++
			}
		}
		return n
	}
	if lost() > 0 {
		t.Fatal("the session ends though the next one would be an earlier one too")
	}
	g.run(time.Minute, nil) // its beats take the store beyond that
	if n := lost(); n != 1 {
		t.Errorf("%d sessions have ended, want one", n)
	}
	if s := g.m.Status("r"); !s.Leading || g.m.lease.number <= later {
		t.Errorf("session %d, later than %d: %+v", g.m.lease.number, later, s)
	}
}

// TestALaterSessionOfAnother: so it is with another process whose lease has ended, and that does
// not come back: it is ended again, above the session that its role names, and waited for before.
func TestALaterSessionOfAnother(t *testing.T) {
	for name, ahead := range map[string]uint64{"the store is beyond it": 0, "it is beyond the store": 20} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			g.step(Join{RoleConfig{Name: "x"}}) // so that it beats often
			g.run(time.Second, nil)
			g.sees(record.LeaseKey(record.Peer{Class: record.Candidate, Instance: "b"}),
				record.Lease{V: record.Version, Session: 900, Nonce: "n", State: record.Killed, By: "c"})
			later := g.rev + 1 + ahead
			g.sees(record.RoleKey("r"), record.Role{V: record.Version, TTLms: 6000, ID: "b", Session: later, Token: "t"})
			g.step(Join{RoleConfig{Name: "r"}})
			at := g.now.Observer
			g.run(time.Minute, func() {
				if (g.claims("r") || g.killed("b")) && g.now.Observer.Sub(at) < 6*time.Second {
					t.Fatalf("after %v the role is claimed, or its holder ended", g.now.Observer.Sub(at))
				}
			})
			ends := 0
			for _, e := range g.effs {
				if k, ok := e.(PeerKilled); ok && k.Peer.Instance == "b" {
					ends++
				}
			}
			if ends != 1 || !g.m.Status("r").Leading {
				t.Errorf("b was ended %d times, want once; %+v", ends, g.m.Status("r"))
			}
		})
	}
}

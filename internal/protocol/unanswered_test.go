package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestUnanswered: a session that does not answer is ended at once if it is idle, without a look at
// its beats, and only if its lease stands as it is known. The record says that it was at rest. One
// that works, or is another one, is left alone.
func TestUnanswered(t *testing.T) {
	worker := record.Peer{Class: record.Worker, Instance: "b"}
	for name, c := range map[string]struct {
		state   record.LeaseState
		another uint64
		ends    bool
	}{
		"idle":                   {state: record.Idle, ends: true},
		"it works":               {state: record.Live},
		"its next session":       {state: record.Idle, another: 1},
		"it has ended":           {state: record.Killed},
		"a later version has it": {state: "later"},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			g.step(Busy{true})
			g.run(2*time.Second, nil)
			session := g.rev + 1
			key := record.LeaseKey(worker)
			lease := record.Lease{V: 1, Session: session, Nonce: "x", TTLms: 60_000, Beat: 2, State: c.state}
			if c.state == "later" {
				lease.V = record.Version + 1
			}
			g.sees(key, lease)
			g.mute = true
			g.step(Unanswered{worker, session + c.another})
			g.step(Unanswered{worker, session + c.another}) // it is under way
			sent := g.sent(key)
			if len(sent) != 1 && c.ends || len(sent) > 0 && !c.ends {
				t.Fatalf("%d writes of its lease", len(sent))
			}
			if !c.ends {
				return
			}
			if sent[0].Expect != session {
				t.Errorf("written over %d, and it stands at %d", sent[0].Expect, session)
			}
			g.win(sent[0], true)
			if v := g.m.View(); !g.killed("b") || !v.Dead(worker, session) || !v.Closed(worker, session) {
				t.Errorf("ended %t, dead %t, with nothing at work %t", g.killed("b"), v.Dead(worker, session),
					v.Closed(worker, session))
			}
		})
	}
}

// TestKilledAtWork: nobody knows what a session had begun which was killed while it was not idle.
func TestKilledAtWork(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	session := g.rev + 1
	b := record.Peer{Instance: "b"}
	g.sees(record.LeaseKey(b), record.Lease{
		V: 1, Session: session, Nonce: "x", TTLms: 2_000, Beat: 2, State: record.Live,
	})
	g.run(10*time.Second, nil)
	if v := g.m.View(); !v.Dead(b, session) || v.Closed(b, session) {
		t.Errorf("dead %t, with nothing at work %t", v.Dead(b, session), v.Closed(b, session))
	}
}

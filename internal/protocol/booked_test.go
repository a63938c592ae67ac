package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestBookedSessionIsEnded: of a session that a scheduler has in its state nothing may be left in
// the bucket, or only what tells of an earlier end. It is waited for, for its last lease time if
// that is known and else for the longest, and then ended, so that it is known to be dead.
func TestBookedSessionIsEnded(t *testing.T) {
	const ttl, longest = 6 * time.Second, 2 * time.Minute
	b := record.Peer{Class: record.Candidate, Instance: "b"}
	removed := func(g *rig) {
		g.rev++
		g.step(Delivered{&record.Entry{Kind: record.KindLease, Peer: b, Revision: g.rev, Form: record.FormMarker}})
	}
	for name, c := range map[string]struct {
		begin func(g *rig) (session uint64)
		wait  time.Duration
	}{
		"nothing is left": {func(g *rig) uint64 { return g.rev }, longest},
		"its lease was removed": {func(g *rig) uint64 {
			session := g.rev + 1
			g.sees("c.lease.b", record.Lease{
				V: 1, Session: session, Nonce: "x", TTLms: ttl.Milliseconds(), Beat: 1, State: record.Live,
			})
			g.step(Booked{b, session})
			removed(g)
			if p := g.m.View().Peer(b); p == nil || p.Booked != session || p.LastTTL != ttl {
				t.Errorf("what is in the state is known as %+v after its lease was removed", p)
			}
			return session
		}, ttl},
		"an earlier end is left": {func(g *rig) uint64 {
			g.sees("c.lease.b", record.Lease{V: 1, State: record.Killed, By: "c"})
			return g.rev
		}, longest},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			session := c.begin(g)
			g.step(Booked{b, session})
			g.run(c.wait-200*time.Millisecond, nil)
			if g.killed("b") {
				t.Fatal("ended before the lease time was over")
			}
			g.run(2*time.Second, nil)
			if !g.killed("b") || !g.m.View().Dead(b, session) {
				t.Errorf("ended %t, known to be dead %t", g.killed("b"), g.m.View().Dead(b, session))
			}
			for _, e := range g.effs {
				if w, ok := e.(Write); ok && w.Key == "c.lease.b" && w.TTL != 2*longest+time.Second {
					t.Errorf("what tells of the end remains for %v", w.TTL)
				}
			}
			if p := g.m.View().Peer(b); p == nil || p.Booked != 0 {
				t.Errorf("it is still in the state: %+v", p)
			}
			removed(g)
			if p := g.m.View().Peer(b); p != nil {
				t.Errorf("it is not forgotten: %+v", p)
			}
		})
	}
}

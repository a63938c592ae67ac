package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestGapSinceTheLastSign: a term tells how long ago the former leader was last seen to live. The
// first term of a role tells nothing, and so does the first after a leader that was not seen.
func TestGapSinceTheLastSign(t *testing.T) {
	b := record.Peer{Class: record.Candidate, Instance: "b"}
	vacant := record.Role{V: 1, Vacant: true, By: "b", TTLms: 6000}
	for name, c := range map[string]struct {
		before   func(g *rig) // before this process has a session
		after    func(g *rig, session uint64)
		from, to time.Duration
	}{
		"the first leader": {},
		"found vacant":     {before: func(g *rig) { g.sees(record.RoleKey("r"), vacant) }},
		"given up": {
			after: func(g *rig, _ uint64) { g.sees(record.RoleKey("r"), vacant) },
			to:    100 * time.Millisecond,
		},
		"killed by another": {after: func(g *rig, session uint64) {
			g.run(time.Second, nil)
			g.sees(record.LeaseKey(b), record.Lease{V: 1, Session: session, Nonce: "b", TTLms: 6000, State: record.Killed})
		}, from: 4 * time.Second, to: 4200 * time.Millisecond},
		"dead, and killed by us": {
			after: func(g *rig, _ uint64) { g.run(8*time.Second, nil) },
			from:  6 * time.Second, to: 8 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			if c.before != nil {
				c.before(g)
			}
			if c.after != nil {
				g.sees(record.LeaseKey(b), record.Lease{V: 1, Nonce: "b", TTLms: 6000, State: record.Live})
				session := g.rev
				g.sees(record.RoleKey("r"), record.Role{V: 1, ID: "b", Session: session, Token: "t", TTLms: 6000})
				g.step(Join{RoleConfig{Name: "r"}})
				g.run(3*time.Second, nil)
				c.after(g, session)
			} else {
				g.step(Join{RoleConfig{Name: "r"}})
			}
			g.run(3*time.Second, nil)
			if gap := g.begin("r").Gap; gap < c.from || gap > c.to || gap == 0 && c.after != nil {
				t.Errorf("the gap is %v, want %v to %v", gap, c.from, c.to)
			}
		})
	}
}

package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestHandedOver: a role that was handed to somebody who has confirmed is left to it for a
// heartbeat, though it be slow on a busy machine, and is claimed by the next in line, the one
// that gave it away too; at once, when it cannot take the role any more.
func TestHandedOver(t *testing.T) {
	for name, c := range map[string]struct {
		next     string
		gone     bool // b is not eligible any more
		from, to time.Duration
	}{
		"b is slow":                    {next: "b", from: 900 * time.Millisecond, to: 1200 * time.Millisecond},
		"b will not":                   {next: "b", gone: true, to: 100 * time.Millisecond},
		"given away to nobody":         {to: 100 * time.Millisecond},
		"given away to us":             {next: "a", to: 100 * time.Millisecond},
		"given away to the one before": {next: "x", to: 100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			g.sees("c.lease.b", record.Lease{V: 1, Nonce: "b", TTLms: 6000, State: record.Live})
			session := g.rev
			g.sees("c.member.b",
				record.Member{V: 1, Session: session, Roles: record.CandidaciesOf(map[string]record.Candidacy{
					"r": {Eligible: !c.gone},
				})})
			g.sees("c.role.r", record.Role{V: 1, ID: "b", Session: session, Token: "t", TTLms: 6000})
			g.step(Join{RoleConfig{Name: "r"}})
			g.run(2*time.Second, nil) // a session of our own that may claim
			if g.claims("r") {
				t.Fatal("it was claimed while b led it")
			}
			g.sees("c.role.r", record.Role{V: 1, Vacant: true, By: "a", Next: c.next, TTLms: 6000})
			g.run(c.from, nil)
			if c.from > 0 && g.claims("r") {
				t.Error("it was claimed before b could")
			}
			if g.run(c.to-c.from, nil); !g.claims("r") {
				t.Error("nobody has claimed it")
			}
		})
	}
}

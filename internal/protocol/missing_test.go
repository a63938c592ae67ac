package protocol

import (
	"testing"
	"time"
)

// TestMissingIsWaitedFor: a complete snapshot that lacks the record of a role, or the lease of its holder, is no proof that the
// holder has stopped. Its session is ended, and the role claimed, when the lease time since that snapshot is over.
func TestMissingIsWaitedFor(t *testing.T) {
	const ttl = 6 * time.Second
	for _, lost := range []string{"role.r", "lease.b"} {
		t.Run(lost, func(t *testing.T) {
			g := newRig(t, nil)
			lease := Lease{V: 1, Session: g.rev + 1, Nonce: "x", TTLms: ttl.Milliseconds(), Beat: 1, State: Live}
			g.sees("lease.b", lease)
			g.sees("role.r", heldBy("b", lease.Session, ttl.Milliseconds()))
			g.step(Join{RoleConfig{Name: "r"}})
			g.run(2*time.Second, nil)

			role := *g.m.View().Role("r")
			g.step(WatchReset{})
			if lost == "role.r" {
				lease.Beat++
				g.sees("lease.b", lease)
			} else {
				g.step(&Entry{Kind: KindRole, Name: "r", Revision: role.Revision, Form: FormRecord, Role: role.Role})
			}
			g.sees("lease.a", g.m.self.Lease) // newer than what is lost: no replica that lags
			g.step(SnapshotDone{})
			form := g.m.View().Role("r").Form
			if b := g.m.View().Peer(Peer{Candidate, "b"}); lost == "lease.b" && b != nil {
				form = b.Form
			}
			g.run(ttl-100*time.Millisecond, nil)
			if killed := g.killed("b"); killed || g.claims("r") {
				t.Fatalf("before the lease time was over: session ended %v, role claimed %v", killed, g.claims("r"))
			}
			if form != FormMissing {
				t.Fatalf("after that snapshot it was of form %v, not missing", form)
			}
			g.run(time.Second, nil)
			if !g.claims("r") {
				t.Error("when the lease time was over the role was not claimed")
			}
		})
	}
}

// claims reports whether a role was ever claimed.
func (g *rig) claims(role string) bool {
	for _, e := range g.effs {
		if w, ok := e.(Write); ok && w.Key == RoleKey(role) {
			return true
		}
	}
	return false
}

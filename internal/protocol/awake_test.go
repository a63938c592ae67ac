package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestIdleBeatThatMayStand: an idle beat of which nothing is known may stand, so nothing is begun
// under the session before a short one sent after it is acknowledged; that one was sent is not
// enough, for it is refused if the idle one stands.
func TestIdleBeatThatMayStand(t *testing.T) {
	g := newRig(t, nil)
	if !g.m.Awake() {
		t.Fatal("a session that was opened by a short beat is not awake")
	}
	g.mute = true
	for len(g.pend) == 0 {
		g.run(100*time.Millisecond, nil)
	}
	idle := g.pend[0]
	if e := record.Decode(idle.Key, idle.Value, g.rev, false, g.m.cfg.MaxTTL); e.Lease.State != record.Idle {
		t.Fatalf("%s instead of an idle beat", idle.Value)
	}
	g.pend = nil
	g.step(Join{RoleConfig{Name: "r"}})
	g.step(Written{ID: idle.ID, Outcome: record.Unknown})
	g.run(500*time.Millisecond, nil)
	byKey := map[string]Write{}
	for _, w := range g.pend {
		byKey[w.Key] = w
	}
	short, sent := byKey["c.lease.a"]
	if _, claimed := byKey["c.role.r"]; claimed || !sent {
		t.Fatalf("with an idle beat that may stand: claimed %v, short beat sent %v", claimed, sent)
	}
	if g.m.Awake() {
		t.Error("it is awake by a short beat that was sent and not acknowledged")
	}
	g.mute = false
	g.win(short, true)
	g.run(100*time.Millisecond, nil)
	if g.begin("r"); !g.m.Awake() {
		t.Error("it is not awake though a short beat is acknowledged")
	}
}

// TestIdleHolder: an idle lease says that its session holds nothing. One that holds a role all the
// same is ended when the lease time of that role is over, long before its own; what a former
// session held is not a reason for that.
func TestIdleHolder(t *testing.T) {
	for name, c := range map[string]struct {
		holder uint64
		killed bool
	}{
		"its own":            {20, true},
		"a former one's":     {5, false},
		"that of a next one": {30, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			g.sees("c.lease.b", record.Lease{V: 1, Session: 20, Nonce: "x", TTLms: 60_000, Beat: 2, State: record.Idle})
			role := heldBy("b", c.holder, 6000)
			g.sees("c.role.r", role)
			g.run(role.TTL()-100*time.Millisecond, nil)
			if g.killed("b") {
				t.Error("it was ended before the lease time of the role was over")
			}
			g.run(time.Second, nil)
			if g.killed("b") != c.killed {
				t.Errorf("after the lease time of the role: ended %v, want %v", !c.killed, c.killed)
			}
		})
	}
}

func (g *rig) sees(key string, rec any) {
	g.rev++
	e := record.Decode(key, record.Encode(rec), g.rev, false, g.m.cfg.MaxTTL)
	g.stands(key, e)
	g.step(Delivered{&e})
}

func (g *rig) killed(instance string) bool {
	for _, e := range g.effs {
		if k, ok := e.(PeerKilled); ok && k.Peer.Instance == instance {
			return true
		}
	}
	return false
}

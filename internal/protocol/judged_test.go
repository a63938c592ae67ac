package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAPartOfAWatchJudgesNobody: while a watch has shown only a part of what is there, nothing is
// concluded from what it does not show: not about an idle session, and not about one whose lease
// seems to stand still. The silence of an idle session counts from when all has been shown.
func TestAPartOfAWatchJudgesNobody(t *testing.T) {
	for name, state := range map[string]record.LeaseState{"idle": record.Idle, "at work": record.Live} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			g.step(Busy{true})
			g.watch(Widen{All: true})
			b := record.Peer{Instance: "b"}
			g.sees(record.LeaseKey(b), record.Lease{V: 1, Session: 20, Nonce: "x", TTLms: 9_000, Beat: 2, State: state})
			if state == record.Idle {
				g.sees(record.IdleKey(b), record.IdleBeat{V: 1, Session: 20, Nonce: "x", Lease: g.rev, Beat: 5, TTLms: 9_000})
			}
			g.run(2*time.Second, nil)
			g.step(WatchReset{Wide: true}) // it shows our own beats, as they are written
			if g.run(time.Minute, nil); g.killed("b") {
				t.Fatal("ended by a watch that has not shown whether it lives")
			}
			g.watch(Widen{All: true})
			if state == record.Idle {
				if g.run(8*time.Second, nil); g.killed("b") {
					t.Error("an idle session was ended before it was silent under a whole watch")
				}
			}
			if g.run(3*time.Second, nil); !g.killed("b") {
				t.Error("a silent session was not ended by a whole watch")
			}
		})
	}
}

// TestARefusedIdleBeat: the refusal of a beat beside the lease means nothing by itself. Only what
// the watch shows of the lease ends the session.
func TestARefusedIdleBeat(t *testing.T) {
	g := newRig(t, nil)
	g.goIdle()
	g.pend = nil
	number, beat := g.m.lease.number, g.nextWrite()
	if beat.Key != idleKey {
		t.Fatalf("%s is written, want a beat beside the lease", beat.Key)
	}
	g.step(Written{ID: beat.ID, Outcome: record.Refused})
	g.mute, g.pend = false, nil
	if g.run(30*time.Second, nil); g.m.phase != open || g.m.lease.number != number {
		t.Error("the session has ended, and its lease stood")
	}
	lease := g.keys[leaseKey].Lease
	lease.State, lease.By = record.Killed, "b"
	if g.sees(leaseKey, lease); g.m.phase == open && g.m.lease.number == number {
		t.Error("the watch has shown the end of the lease, and the session continues")
	}
}

// TestTurnsOfKills: those who could end a dead session do so one after the other, by the age of
// their sessions. Nobody waits for one that is dead itself.
func TestTurnsOfKills(t *testing.T) {
	for name, c := range map[string]struct {
		age   int64 // of the session of c, compared with ours
		lives bool
		waits bool
	}{
		"the older one is first":            {-1, true, true},
		"the younger one is behind us":      {1, true, false},
		"a dead one is not waited for":      {-1, false, false},
		"a dead younger one changes little": {1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, func(c *Config) { c.Delta = 200 * time.Millisecond })
			g.step(Busy{true})
			number := uint64(int64(g.m.lease.number) + c.age)
			beat := func() {
				g.sees(record.LeaseKey(record.Peer{Instance: "c"}),
					record.Lease{V: 1, Session: number, Nonce: "y", TTLms: 3_000, Beat: g.rev, State: record.Live})
			}
			beat()
			if !c.lives {
				g.run(4*time.Second, nil)
			}
			g.sees(record.LeaseKey(record.Peer{Instance: "b"}),
				record.Lease{V: 1, Session: 20, Nonce: "x", TTLms: 9_000, Beat: 2, State: record.Live})
			g.run(9100*time.Millisecond, func() {
				if c.lives {
					beat()
				}
			})
			if g.killed("b") == c.waits {
				t.Errorf("its time is up, before the turn of the second: ended: %v", !c.waits)
			}
			if g.run(300*time.Millisecond, nil); !g.killed("b") {
				t.Error("the second did not do it in its turn")
			}
		})
	}
}

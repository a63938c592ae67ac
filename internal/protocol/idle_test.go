package protocol

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

var idleKey, leaseKey = record.IdleKey(record.Peer{Instance: "a"}), record.LeaseKey(record.Peer{Instance: "a"})

// sent is the writes of a key so far, the answered ones too.
func (g *rig) sent(key string) (all []Write) {
	for _, e := range g.effs {
		if w, ok := e.(Write); ok && w.Key == key {
			all = append(all, w)
		}
	}
	return all
}

// goIdle waits until the session beats beside its lease, and answers nothing from then on.
func (g *rig) goIdle() {
	for len(g.sent(idleKey)) == 0 {
		g.run(100*time.Millisecond, nil)
	}
	g.mute = true
}

// nextWrite waits for the next write.
func (g *rig) nextWrite() Write {
	for len(g.pend) == 0 {
		g.run(10*time.Millisecond, nil)
	}
	w := g.pend[0]
	g.pend = g.pend[1:]
	return w
}

// TestIdleBeats: an idle session beats beside its lease, on the condition that it stands as it was
// acknowledged. The lease itself is written again before the server removes it.
func TestIdleBeats(t *testing.T) {
	g := newRig(t, func(c *Config) { c.Retention = 3 * time.Minute })
	g.run(30*time.Second, nil)
	beats, leases := g.sent(idleKey), g.sent(leaseKey)
	stands := leases[len(leases)-1]
	if e := record.Decode(stands.Key, stands.Value, 1, false, time.Minute); e.Lease.State != record.Idle ||
		stands.TTL != 3*time.Minute {
		t.Fatalf("its lease says %s, for %v", stands.Value, stands.TTL)
	}
	if len(beats) < 8 {
		t.Fatalf("%d beats in half a minute, every 3 s", len(beats))
	}
	for _, w := range beats {
		if w.GuardKey != leaseKey || w.GuardRevision != g.m.lease.rev {
			t.Fatalf("guarded by %s@%d, and the lease stands at %d", w.GuardKey, w.GuardRevision, g.m.lease.rev)
		}
	}
	g.run(10*time.Minute, nil)
	renewed := g.sent(leaseKey)[len(leases):]
	if len(renewed) < 8 || len(renewed) > 11 {
		t.Errorf("in ten minutes it was written again %d times, every minute", len(renewed))
	}
}

// TestLiveBeforeAnything: a claim under an idle lease begins with a write of the lease.
func TestLiveBeforeAnything(t *testing.T) {
	g := newRig(t, nil)
	g.goIdle()
	g.mute, g.pend = false, nil
	g.run(5*time.Second, nil)
	g.mute = true
	g.step(Join{RoleConfig{Name: "r"}})
	for _, w := range g.pend {
		if w.Key == record.RoleKey("r") {
			t.Fatal("it has claimed under an idle lease")
		}
	}
	live := g.nextWrite()
	for live.Key != leaseKey {
		live = g.nextWrite()
	}
	if e := record.Decode(live.Key, live.Value, 1, false, time.Minute); e.Lease.State != record.Live {
		t.Errorf("it wants to lead, and writes %s", live.Value)
	}
}

// TestLateIdleBeat: a copy of an earlier beat that lands after a later one says nothing, not even
// to its owner. Such copies land, since the condition is on the lease.
func TestLateIdleBeat(t *testing.T) {
	g := newRig(t, nil)
	g.watch(Widen{All: true})
	g.goIdle()
	g.pend = nil
	first := g.nextWrite()
	g.step(Written{ID: first.ID, Outcome: record.Unknown})
	g.run(time.Second, nil)
	second := g.nextWrite()
	if first.Key != idleKey || second.Key != idleKey {
		t.Fatalf("want two idle beats: %s and %s", first.Key, second.Key)
	}
	g.win(second, true)
	until := g.m.LeaseUntil()
	g.rev++
	late := record.Decode(first.Key, first.Value, g.rev, false, time.Minute)
	g.step(Delivered{&late})
	if g.m.phase != open || g.m.LeaseUntil() != until {
		t.Errorf("a late beat: trusted until %d, and not %d", g.m.LeaseUntil(), until)
	}
}

// TestNoIdleBeatBesideAnOpenWrite: while a write of the lease has no known outcome, the next beat
// goes to the lease too.
func TestNoIdleBeatBesideAnOpenWrite(t *testing.T) {
	g := newRig(t, nil)
	g.goIdle()
	g.pend = nil
	g.step(Busy{true})
	live := g.nextWrite()
	for live.Key != leaseKey {
		g.step(Written{ID: live.ID, Outcome: record.Unknown})
		live = g.nextWrite()
	}
	g.step(Busy{false})
	before := len(g.sent(idleKey))
	for range 10 { // for longer than it stays on short beats
		g.step(Written{ID: live.ID, Outcome: record.Unknown})
		live = g.nextWrite()
	}
	if len(g.sent(idleKey)) > before || live.Key != leaseKey {
		t.Fatal("it beats beside a lease of which nobody knows how it stands")
	}
	g.mute = false
	g.win(live, true)
	g.run(10*time.Second, nil)
	if len(g.sent(idleKey)) == before {
		t.Error("it does not beat beside its lease again")
	}
}

// TestIdleSilence: whether an idle session lives, only a watch over everything tells, and only
// since it is whole. Its newest beat says how long it may be silent. A beat that is late, or of
// another incarnation or another revision of the lease, says nothing.
func TestIdleSilence(t *testing.T) {
	idle := record.Lease{V: 1, Session: 20, Nonce: "x", TTLms: 9_000, Beat: 2, State: record.Idle}
	beat := func(lease uint64) record.IdleBeat {
		return record.IdleBeat{V: 1, Session: 20, Nonce: "x", Lease: lease, Beat: 5, TTLms: 20_000}
	}
	key := record.IdleKey(record.Peer{Instance: "b"})
	for name, c := range map[string]struct {
		narrow, again bool
		later         func(*record.IdleBeat)
		lives         bool
	}{
		"nobody sees its beats": {narrow: true, lives: true},
		"silent":                {},
		"it beats":              {later: func(b *record.IdleBeat) { b.Beat++ }, lives: true},
		"a late beat":           {later: func(b *record.IdleBeat) { b.Beat-- }},
		"the same one":          {later: func(b *record.IdleBeat) {}},
		"another incarnation":   {later: func(b *record.IdleBeat) { b.Nonce, b.Beat = "y", 6 }},
		"another lease":         {later: func(b *record.IdleBeat) { b.Lease, b.Beat = b.Lease-1, 6 }},
		"a new watch":           {again: true, lives: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newRig(t, nil)
			g.step(Busy{true})
			g.watch(Widen{All: !c.narrow})
			b := beat(g.rev + 1)
			g.sees(record.LeaseKey(record.Peer{Instance: "b"}), idle)
			if !c.narrow {
				g.sees(key, b)
			}
			g.run(19*time.Second, nil)
			if g.killed("b") {
				t.Fatal("ended before its time, which its newest beat says")
			}
			if c.later != nil {
				c.later(&b)
				g.sees(key, b)
			}
			if c.again {
				g.watch(Widen{All: true})
			}
			g.run(5*time.Second, nil)
			if g.killed("b") == c.lives {
				t.Errorf("ended: %v", !c.lives)
			}
			if g.run(time.Minute, nil); g.killed("b") == c.narrow {
				t.Errorf("after a minute: ended: %v", !c.narrow)
			}
		})
	}
}

// besideIdle is a process that opens under the name of another one, whose lease stands idle at that
// revision.
func besideIdle(t *testing.T) (g *rig, lease uint64) {
	g = newRig(t, nil)
	g.m, g.effs = New(g.m.cfg), nil
	g.step(WatchReset{})
	g.sees(leaseKey, record.Lease{V: 1, Session: 20, Nonce: "x", TTLms: 9_000, Beat: 2, State: record.Idle})
	lease = g.rev
	g.step(SnapshotDone{})
	if g.width != (Widen{OwnIdle: true}) {
		t.Fatal("it does not ask for the beats of its rival")
	}
	return g, lease
}

// TestIdleRival: a process that opens under the name of an idle session asks for a watch that shows
// its beats, and waits for two of them. If there are none, it ends the session. If there are three,
// they are two processes of one name.
func TestIdleRival(t *testing.T) {
	g, _ := besideIdle(t)
	if g.run(5900*time.Millisecond, nil); g.killed("a") {
		t.Error("a silent rival was ended before two of its intervals")
	}
	if g.run(200*time.Millisecond, nil); !g.killed("a") || len(g.sent(leaseKey)) < 2 {
		t.Error("a silent rival was not ended, or no session opened")
	}
	g, lease := besideIdle(t)
	for n := range uint64(6) {
		g.run(3*time.Second, nil)
		g.sees(idleKey, record.IdleBeat{V: 1, Session: 20, Nonce: "x", Lease: lease, Beat: 3 + n, TTLms: 9_000})
	}
	var ended Ended
	for _, e := range g.effs {
		if e, is := e.(Ended); is {
			ended = e
		}
	}
	if d := (*DuplicateError)(nil); !errors.As(ended.Fault, &d) || g.killed("a") {
		t.Errorf("beside an idle session of the same name: ended by %v, having killed it: %v", ended.Fault, g.killed("a"))
	}
}

// TestLateBeatsOfARival: a replica that lags shows the beats of a crashed process late: slowly, of
// before the watch began; or one after the other, of after that as far as we were told, by somebody
// who lagged too. They do not count, and its session is ended as that of any silent rival.
func TestLateBeatsOfARival(t *testing.T) {
	for _, c := range []struct {
		begun uint64
		apart time.Duration
	}{{begun: 10, apart: time.Second}, {begun: 0, apart: 50 * time.Millisecond}} {
		g, lease := besideIdle(t)
		begun := g.rev + c.begun
		g.step(WatchReset{OwnIdle: true, Known: begun, Last: begun, Told: true, Behind: true})
		g.step(SnapshotDone{})
		for n := range uint64(6) {
			g.run(c.apart, nil)
			g.sees(idleKey, record.IdleBeat{V: 1, Session: 20, Nonce: "x", Lease: lease, Beat: 3 + n, TTLms: 9_000})
		}
		if c.begun > 0 && g.rev > begun {
			t.Fatal("the last beat is later than the watch")
		}
		g.rev = max(g.rev, begun)
		g.run(time.Minute, nil)
		for _, e := range g.effs {
			if ended, is := e.(Ended); is {
				t.Errorf("%v apart: ended by %v", c.apart, ended.Fault)
			}
		}
		if !g.killed("a") {
			t.Errorf("%v apart: its session was not ended", c.apart)
		}
	}
}

// TestClosedLeavesNoIdleBeat: a session that is closed takes its idle beats away.
func TestClosedLeavesNoIdleBeat(t *testing.T) {
	g := newRig(t, nil)
	g.run(20*time.Second, nil)
	g.step(Close{Timeout: 10 * time.Second})
	g.run(5*time.Second, nil)
	all := g.sent(idleKey)
	if last := all[len(all)-1]; !last.Delete {
		t.Errorf("the last write of its idle beat is %s", last.Value)
	}
	all = g.sent(leaseKey)
	if e := record.Decode(leaseKey, all[len(all)-1].Value, 1, false, time.Minute); e.Lease.State != record.Closed {
		t.Error("it is not closed")
	}
}

// TestIdleSuccessors: a leader asks an idle candidate to take over only when its watch would show
// that it lives, and names as the next one only somebody who does.
func TestIdleSuccessors(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(100*time.Millisecond, nil)
	b, lease := record.Peer{Instance: "b"}, g.rev+1
	g.sees(record.LeaseKey(b), record.Lease{V: 1, Session: 20, Nonce: "x", TTLms: 9_000, Beat: 2, State: record.Idle})
	g.sees(record.MemberKey(b), record.Member{
		V: 1, Session: 20, Roles: record.CandidaciesOf(map[string]record.Candidacy{
			"r": {Priority: 5, Takeover: true, Eligible: true},
		}),
	})
	asked := func() bool {
		return slices.ContainsFunc(g.effs, func(e Effect) bool { _, is := e.(Ask); return is })
	}
	g.keeps = true
	if g.run(800*time.Millisecond, nil); g.wants.All {
		t.Fatal("a leader of less than a heartbeat wants all")
	}
	if g.run(300*time.Millisecond, nil); !g.wants.All {
		t.Fatal("a leader beside an idle member does not ask for its beats")
	}
	if g.run(5*time.Second, nil); asked() {
		t.Fatal("it asks a better candidate of which it hears nothing")
	}
	g.keeps = false
	g.watch(g.wants)
	g.sees(record.IdleKey(b), record.IdleBeat{V: 1, Session: 20, Nonce: "x", Lease: lease, Beat: 3, TTLms: 9_000})
	if g.run(3*time.Second, nil); !asked() {
		t.Fatal("it does not ask a better candidate that lives")
	}
	g.watch(Widen{})
	g.step(Answered{"r", "b", true})
	g.step(Drained{"r", g.begin("r").Epoch})
	g.run(100*time.Millisecond, nil)
	for _, w := range g.sent(record.RoleKey("r")) {
		if r, _ := record.DecodeRole(w.Value, time.Minute); r.Vacant && r.Next != "" {
			t.Errorf("the next one is %q, of which nothing is known", r.Next)
		}
	}
}

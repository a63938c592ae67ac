package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestOwnMemberRecordThatIsMissing: a snapshot without our own member record is all that tells of
// its removal, when the marker is gone too. It is written again, and once; without it nobody would
// count on us as a candidate.
func TestOwnMemberRecordThatIsMissing(t *testing.T) {
	g := newRig(t, nil)
	g.step(Join{RoleConfig{Name: "r", Priority: 3}})
	g.run(2*time.Second, nil)
	stood := g.m.self.MemberRevision
	if g.m.self.Member == nil {
		t.Fatal("there is no member record to begin with")
	}
	before := g.members()
	g.step(WatchReset{})
	g.rev++ // what others write is delivered: no replica that lags
	lease := g.m.self.Lease
	for _, rec := range []struct {
		key string
		rec any
	}{
		{"c.lease.a", lease},
		{"c.lease.b", record.Lease{V: 1, Session: g.rev, Nonce: "x", TTLms: 6000, Beat: 1, State: record.Live}},
	} {
		g.sees(rec.key, rec.rec)
	}
	g.step(SnapshotDone{})
	g.run(2*time.Second, nil)
	written := g.members()[len(before):]
	if len(written) != 1 || written[0].Expect != 0 {
		t.Fatalf("after a snapshot without it: written %v, want it once, over nothing", written)
	}
	m := g.m.self.Member
	if said, _ := m.Candidacy("r"); m == nil || g.m.self.MemberRevision <= stood || said.Priority != 3 {
		t.Errorf("the record is %+v at %d, it stood at %d", m, g.m.self.MemberRevision, stood)
	}
}

// TestOwnMemberRecordThatIsRemoved: the watch need not show the last record before we remove it,
// since the bucket keeps one for each key. While the removal is under way nothing is missing.
func TestOwnMemberRecordThatIsRemoved(t *testing.T) {
	g := newRig(t, nil)
	g.run(2*time.Second, nil)
	before := g.rebuilds()
	g.mute = true
	g.step(Close{Timeout: 10 * time.Second})
	if says := g.next(record.MemberKey(g.m.self.Peer)); says.Delete {
		t.Fatal("it does not say first that it is about to leave")
	} else {
		g.win(says, false)
	}
	if removal := g.next(record.MemberKey(g.m.self.Peer)); !removal.Delete {
		t.Fatalf("it writes %s, and does not remove it", removal.Value)
	}
	g.sees("c.lease.b", record.Lease{V: 1, Session: g.rev, Nonce: "x", TTLms: 6000, Beat: 1, State: record.Live})
	if n := g.rebuilds() - before; n > 0 {
		t.Errorf("it asks for %d new watches", n)
	}
}

// members are the writes of our member record up to now.
func (g *rig) members() (out []Write) {
	for _, e := range g.effs {
		if w, ok := e.(Write); ok && w.Key == record.MemberKey(g.m.self.Peer) {
			out = append(out, w)
		}
	}
	return out
}

// TestMemberRecordsDoNotFight: another process of our name that believes in a session of its own
// writes the record as often as we do, until one of the two ends. Neither writes it more often than
// it beats.
func TestMemberRecordsDoNotFight(t *testing.T) {
	g := newRig(t, nil)
	g.run(3*time.Second, nil)
	g.effs = nil
	const long = 5 * time.Second
	g.run(long, func() {
		if n := len(g.members()); n > 0 || g.now.Observer%record.Instant(50*time.Millisecond) == 0 {
			g.sees(record.MemberKey(g.m.self.Peer), record.Member{V: record.Version, Session: 1})
		}
	})
	if n, most := len(g.members()), int(long/g.m.cfg.Heartbeat)+1; n == 0 || n > most {
		t.Errorf("written %d times in %v, want once at least and %d times at most", n, long, most)
	}
	g.run(2*g.m.cfg.Heartbeat, nil)
	if got := g.m.self.Member; got == nil || got.Session != g.m.lease.number {
		t.Errorf("when the other one has ended the record says %+v", got)
	}
}

// TestOwnMemberRecordWhoseMarkerHasLeft: somebody has removed our member record, and the server the
// marker, which no watch tells. The refusal tells it: the record is written over nothing at once,
// since nobody counts on us until it stands. If the marker stands after all, it is expected again.
func TestOwnMemberRecordWhoseMarkerHasLeft(t *testing.T) {
	g := newRig(t, nil)
	g.run(2*time.Second, nil)
	key := record.MemberKey(g.m.self.Peer)
	g.mute = true
	g.rev++
	marker := g.rev
	g.step(Delivered{&record.Entry{
		Kind: record.KindMember, Peer: g.m.self.Peer, Revision: marker, Form: record.FormMarker,
	}})
	refused := func(w Write) { g.step(Written{ID: w.ID, Outcome: record.Refused}) }
	w := g.next(key)
	if w.Expect != marker {
		t.Fatalf("it writes %v, want it over the marker at %d", w, marker)
	}
	refused(w)
	if w = g.pendingAt(key); w.Key == "" || w.Expect != 0 {
		t.Fatalf("when the marker has left it writes %v, want it over nothing, at once", w)
	}
	refused(w)
	if w = g.pendingAt(key); w.Key != "" {
		t.Fatalf("it writes %v, and does not wait for what explains both refusals", w)
	}
	if w = g.next(key); w.Expect != marker {
		t.Fatalf("it writes %v, want it over the marker again", w)
	}
	g.win(w, true)
	if m := g.m.self.Member; m == nil || m.Session != g.m.lease.number {
		t.Errorf("the record says %+v", m)
	}
}

package protocol

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAWinOverNothing: a write whose condition is that its key is absent wins in any bucket of this
// name that is empty. So its acknowledgement opens no session, begins no term and is not a member
// record; what the watch shows is. Until then it is not sent again, and after a while there is a
// new watch.
func TestAWinOverNothing(t *testing.T) {
	g := unshownRig(t)
	happened := func(what func(Effect) bool) bool { return slices.ContainsFunc(g.effs, what) }
	opened := func(e Effect) bool { _, is := e.(Opened); return is }
	begun := func(e Effect) bool { _, is := e.(BeginTerm); return is }
	rebuilt := func(e Effect) bool { _, is := e.(RebuildWatch); return is }

	g.step(Join{RoleConfig{Name: "r"}})
	g.run(100*time.Millisecond, nil)
	lease := won(g)
	if g.run(time.Second, nil); len(lease) != 1 || len(g.pend) > 0 || happened(opened) || happened(rebuilt) {
		t.Fatalf("after the first beat won: %d written, %d more sent, opened: %t", len(lease), len(g.pend), happened(opened))
	}
	g.step(Delivered{lease[0]})
	if !happened(opened) {
		t.Fatal("the watch shows the lease, and no session is open")
	}
	g.run(100*time.Millisecond, nil)
	var claim *record.Entry
	for news := won(g); len(news) > 0; news = append(news, won(g)...) {
		if news[0].Kind == record.KindRole {
			claim = news[0]
		} else {
			g.step(Delivered{news[0]})
		}
		news = news[1:]
	}
	if claim == nil || happened(begun) {
		t.Fatalf("the claim %v has won, and a term has begun: %t", claim, happened(begun))
	}
	g.step(Delivered{claim})
	if !happened(begun) {
		t.Fatal("the watch shows the claim, and no term has begun")
	}
}

// unshownRig is a rig before its first session: the test answers the writes, and says what the
// watch shows.
func unshownRig(t *testing.T) *rig {
	g := newRig(t, nil)
	g.m, g.effs, g.mute = New(g.m.cfg), nil, true
	g.step(WatchReset{})
	g.step(SnapshotDone{})
	return g
}

// won acknowledges the writes that wait for an answer.
func won(g *rig) (all []*record.Entry) {
	writes := g.pend
	g.pend = nil
	for _, w := range writes {
		g.rev++
		e := record.Decode(w.Key, w.Value, g.rev, w.Delete, time.Minute)
		all = append(all, &e)
		g.step(Written{ID: w.ID, Outcome: record.Won, Revision: g.rev})
	}
	return all
}

// TestAWinOverNothingThatIsNeverShown asks for a new watch: either it shows the record, or the key
// is written again.
func TestAWinOverNothingThatIsNeverShown(t *testing.T) {
	g := unshownRig(t)
	g.run(100*time.Millisecond, nil)
	won(g)
	g.run(5*time.Second, nil)
	if !slices.ContainsFunc(g.effs, func(e Effect) bool { _, is := e.(RebuildWatch); return is }) {
		t.Fatal("no new watch was asked for")
	}
	g.step(WatchReset{})
	g.step(SnapshotDone{})
	if g.run(2*time.Second, nil); len(g.pend) != 1 || g.pend[0].Expect != 0 {
		t.Fatalf("sent then: %v", g.pend)
	}
}

// TestAWinOverNothingIsToldWhenShown: a beat, a claim and a kill over nothing are told when the
// watch shows them, and not before.
func TestAWinOverNothingIsToldWhenShown(t *testing.T) {
	g := unshownRig(t)
	told := func(what string) (n int) {
		for _, e := range g.effs {
			if fmt.Sprintf("%T", e) == "protocol."+what {
				n++
			}
		}
		return n
	}
	g.sees(record.MemberKey(record.Peer{Instance: "gone"}), record.Member{V: record.Version, Session: 7})
	g.step(Join{RoleConfig{Name: "r"}})
	for _, want := range []struct {
		key, notice string
		after       time.Duration
	}{
		{record.LeaseKey(record.Peer{Instance: "a"}), "Beat", time.Second},
		{record.RoleKey("r"), "Claimed", time.Second},
		{record.LeaseKey(record.Peer{Instance: "gone"}), "PeerKilled", 3 * time.Minute},
	} {
		var entry *record.Entry
		for end := g.now.Observer.Add(want.after); entry == nil && g.now.Observer < end; g.run(10*time.Millisecond, nil) {
			writes, before := slices.Clone(g.pend), told(want.notice)
			for i, e := range won(g) {
				if writes[i].Key != want.key {
					g.step(Delivered{e})
					continue
				}
				if entry = e; writes[i].Expect != 0 || told(want.notice) != before {
					t.Fatalf("%s over %d: told before the watch has shown it", want.notice, writes[i].Expect)
				}
				if g.step(Delivered{e}); told(want.notice) != before+1 {
					t.Fatalf("%s is shown, and told %d times", want.notice, told(want.notice)-before)
				}
			}
		}
		if entry == nil {
			t.Fatalf("%s is not written", want.key)
		}
	}
}

// TestAWinOverNothingBelowWhatIsKnown is one in an older bucket of the same name, or in ours after
// it went back. The new watch tells which: the acknowledgement alone does not end the session.
func TestAWinOverNothingBelowWhatIsKnown(t *testing.T) {
	g := unshownRig(t)
	g.sees("role.other", heldBy("b", 8, 1000))
	g.run(100*time.Millisecond, nil)
	if len(g.pend) != 1 || g.pend[0].Expect != 0 {
		t.Fatalf("sent: %v", g.pend)
	}
	g.step(Written{ID: g.pend[0].ID, Outcome: record.Won, Revision: 3})
	g.run(5*time.Second, nil)
	ended := slices.ContainsFunc(g.effs, func(e Effect) bool { _, is := e.(Ended); return is })
	rebuilt := slices.ContainsFunc(g.effs, func(e Effect) bool { _, is := e.(RebuildWatch); return is })
	if ended || !rebuilt {
		t.Errorf("ended: %t, asked for a new watch: %t", ended, rebuilt)
	}
}

// TestCloseBeforeTheFirstBeatIsShown: the lease is acknowledged, and the watch shows it after
// Close. It is closed, and not left behind alive.
func TestCloseBeforeTheFirstBeatIsShown(t *testing.T) {
	g := unshownRig(t)
	g.run(100*time.Millisecond, nil)
	lease := won(g)
	g.step(Close{Timeout: 5 * time.Second})
	ended := func() bool {
		return slices.ContainsFunc(g.effs, func(e Effect) bool { _, is := e.(Ended); return is })
	}
	if ended() {
		t.Fatal("it has ended, and its lease lives")
	}
	g.step(Delivered{lease[0]})
	state := record.Live
	for range 10 {
		for _, e := range won(g) {
			if e.Kind == record.KindLease {
				state = e.Lease.State
			}
			g.step(Delivered{e})
		}
	}
	if !ended() || state != record.Closed {
		t.Errorf("it has ended: %t, and its lease is %s", ended(), state)
	}
}

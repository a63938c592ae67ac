package protocol

import (
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

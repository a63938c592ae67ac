package protocol

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestALateWatchEndsNobody: while the watch shows nothing, not even our own beats, which are
// acknowledged all the time, every lease stands still. Nobody is judged by that; and as soon as the
// watch shows a beat of ours, a dead session is ended, and a live one is not.
func TestALateWatchEndsNobody(t *testing.T) {
	g := newRig(t, nil)
	lease := func(name string, beat, rev uint64) *record.Entry {
		rec := fmt.Sprintf(`{"v":1,"session":1,"nonce":%q,"ttl_ms":6000,"beat":%d,"state":"live"}`, name, beat)
		e := record.Decode("c.lease."+name, []byte(rec), rev, false, time.Minute)
		return &e
	}
	kills := func() (of []string) {
		for _, e := range g.effs {
			if w, ok := e.(Write); ok && record.Decode(w.Key, w.Value, 1, false, time.Minute).Lease.State == record.Killed {
				of = append(of, w.Key)
			}
		}
		return of
	}
	g.rev += 2
	g.step(Delivered{lease("dead", 1, g.rev-1)})
	g.step(Delivered{lease("lives", 1, g.rev)})
	g.mute = true // below, the store answers and the watch does not
	var unseen []*record.Entry
	for range 300 {
		g.now.Holder, g.now.Observer = g.now.Holder.Add(100*time.Millisecond), g.now.Observer.Add(100*time.Millisecond)
		g.step(Tick{})
		writes := g.pend
		g.pend = nil
		for _, w := range writes {
			g.rev++
			e := record.Decode(w.Key, w.Value, g.rev, false, time.Minute)
			unseen = append(unseen, &e)
			g.step(Written{ID: w.ID, Outcome: record.Won, Revision: g.rev})
		}
	}
	if of := kills(); len(of) > 0 {
		t.Fatalf("without anything to see it would end %d sessions: %v", len(of), of)
	}
	if len(unseen) == 0 {
		t.Fatal("it has not beaten")
	}
	g.rev++
	g.step(Delivered{lease("lives", 2, g.rev)})
	g.mute = false
	for i, e := range unseen {
		if i == len(unseen)-1 || e.Kind != record.KindLease {
			g.step(Delivered{e})
		}
	}
	for range 20 {
		g.now.Holder, g.now.Observer = g.now.Holder.Add(10*time.Millisecond), g.now.Observer.Add(10*time.Millisecond)
		g.step(Tick{})
	}
	if of := kills(); len(of) != 1 || of[0] != "c.lease.dead" {
		t.Errorf("it would end %v", of)
	}
}

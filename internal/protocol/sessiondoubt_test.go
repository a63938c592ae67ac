package protocol

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// TestSessionInDoubt: a session over replicas that went back asks for one watch after BackPatience,
// and ends by what that shows.
func TestSessionInDoubt(t *testing.T) {
	for _, lost := range []bool{true, false} {
		g := newRig(t, nil)
		g.sees("c.role.other", heldBy("b", 8, 1000))
		g.run(time.Second, nil)
		watch := func(last uint64) {
			g.step(WatchReset{Begun: g.now.Observer, Told: true, Last: last, Known: g.m.View().Last()})
			if own := g.m.self; own.Member != nil {
				g.step(Delivered{&record.Entry{
					Kind: record.KindMember, Peer: own.Peer, Revision: own.MemberRevision,
					Form: record.FormRecord, Member: own.Member,
				}})
			}
			g.step(SnapshotDone{})
		}
		before := g.m.View().Last() - 1
		watch(before)
		asked := func() (n int) {
			for _, e := range g.effs {
				if _, ok := e.(RebuildWatch); ok {
					n++
				}
			}
			return n
		}
		g.run(view.BackPatience-50*time.Millisecond, nil)
		if asked() != 0 {
			t.Fatalf("asks for a watch before %v", view.BackPatience)
		}
		g.run(4*view.BackPatience, nil) // nobody makes it
		if asked() != 1 {
			t.Fatalf("asks %d times for a watch, want once", asked())
		}
		if lost {
			watch(before)
		} else {
			watch(g.rev)
		}
		ended, is := g.effs[len(g.effs)-1].(Ended)
		if is != lost || is && ended.Fault != ErrStoreRegressed {
			t.Errorf("lost: %v, and it has ended: %v (%+v)", lost, is, ended)
		}
		g.run(4*view.BackPatience, nil)
		if asked() != 1 {
			t.Errorf("asks %d times for a watch, want once", asked())
		}
	}
}

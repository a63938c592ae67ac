package view

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestSplitWatch: a worker's own records come by a watch of their own, and say nothing of how far
// the other watch is.
func TestSplitWatch(t *testing.T) {
	own := record.Peer{Class: record.Worker, Instance: "w"}
	lease := record.Lease{V: 1, Session: 5, Nonce: "n", State: record.Live, TTLms: 1000}
	role := func(w *watcher) record.Form { return w.Role("r").Form }
	for _, split := range []bool{true, false} {
		w := newWatcher()
		w.Own(own)
		w.sees("c.role.r", 20, ledBy("b", 8, 1000))
		w.sees("w.lease.w", 25, lease)
		// The next watch is of a replica that lags: it does not have the role's record yet.
		w.BeginWatch(Watch{Split: split, Told: true, Behind: true, Known: 25, Last: 25, Begun: 1}, own)
		w.sees("c.role.other", 15, ledBy("b", 8, 1000))
		w.sees("w.lease.w", 30, lease)
		w.EndSnapshot(w.now, nil, &w.news)
		if gone := role(w) == record.FormMissing; gone == split {
			t.Errorf("split %t: a role above all that its watch has shown is gone: %t", split, gone)
		}
		if passed := w.Passed(30); passed == split {
			t.Errorf("split %t: our own record proves that the roles have been shown: %t", split, passed)
		}
		w.sees("c.lease.b", 31, lease)
		if !w.Passed(30) {
			t.Errorf("split %t: a later record of a candidate proves nothing", split)
		}
	}
	// A lease of ours that the watch over it does not show is gone, however little the other shows.
	w := newWatcher()
	w.Own(own)
	w.sees("w.lease.w", 25, lease)
	w.BeginWatch(Watch{Split: true, Told: true, Known: 25, Last: 25, Begun: 1}, own)
	w.sees("w.member.w", 26, record.Member{V: 1, Session: 5})
	w.EndSnapshot(w.now, nil, &w.news)
	if form := w.Peer(own).Form; form != record.FormMissing {
		t.Errorf("a lease that its watch has not shown has form %v", form)
	}
}

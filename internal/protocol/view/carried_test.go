package view

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestCarriedByThePresentWatch: what a former watch has delivered, the present one has to deliver
// again.
func TestCarriedByThePresentWatch(t *testing.T) {
	w := newWatcher()
	whole := func(deliver bool) bool {
		w.BeginWatch(Watch{Told: true, Wide: true, Last: 20, Known: w.Last()}, record.Peer{})
		if deliver {
			w.sees("c.role.r", 20, ledBy("b", 8, 1000))
		}
		w.EndSnapshot(w.now, nil, &w.news)
		return w.Carried("r", 20)
	}
	if !whole(true) || w.Carried("r", 21) {
		t.Error("what the watch has delivered is not carried, or what it has not")
	}
	if whole(false) {
		t.Error("what the watch before has delivered counts as carried")
	}
}

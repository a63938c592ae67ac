package assign

import (
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// TestWhatIsNotSettledKeepsNothingElse: a scheduler that cannot read one task never answers a report with its result in it. Those of
// the others are settled all the same, and that one stays for a scheduler that can.
func TestWhatIsNotSettledKeepsNothingElse(t *testing.T) {
	const opaque = "c"
	o, now, settled := newOutbox("in."), time.Now(), []string{}
	for _, id := range []string{"a", "b", opaque, "d", "e"} {
		f := tasks.Finding{ID: id, Attempt: tasks.Attempt{Epoch: 1, N: 1}, Verb: tasks.Succeeded}
		o.keep(f)
		o.ready(id, f.Attempt)
	}
	for range 2 * aloneAfter {
		now = now.Add(time.Minute)
		o.overdue(now)
		for len(o.queue) > 0 {
			list, items := o.load(now, reportSize)
			o.last++
			o.flights[o.last] = &flight{items, now.Add(time.Second)}
			if slices.ContainsFunc(list, func(f tasks.Finding) bool { return f.ID == opaque }) {
				continue
			}
			for _, h := range o.acknowledge(acknowledged{o.last, make([]bool, len(list)), true}) {
				settled = append(settled, h.ID)
				o.forget(h.ID, h.Attempt)
			}
		}
	}
	if slices.Sort(settled); !slices.Equal(settled, []string{"a", "b", "d", "e"}) {
		t.Errorf("settled are %v", settled)
	}
	if len(o.findings) != 1 || len(o.flights) != 1 {
		t.Errorf("%d results are kept, %d reports under way", len(o.findings), len(o.flights))
	}
}

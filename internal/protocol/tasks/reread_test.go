package tasks

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAReadingThatLags: what stands at the seal is refused again and again, and not shown: another
// reading is asked for. A store that does not answer asks for none, nor does a refusal that is
// explained soon.
func TestAReadingThatLags(t *testing.T) {
	for _, c := range []struct {
		outcome record.Outcome
		times   int
		want    bool
	}{
		{record.Refused, rereadAfter - 1, false},
		{record.Refused, rereadAfter, true},
		{record.Unknown, 3 * rereadAfter, false},
	} {
		b := newDriver(t)
		b.step(Submitted{ID: "x", Revision: 1, Policy: policy})
		w, ok := find[WriteSeal](b.step(CaughtUp{}))
		asked := 0
		for range c.times {
			if !ok {
				t.Fatalf("%v: no seal was tried again", c.outcome)
			}
			effects := b.step(Written{Write: w.Write, Outcome: c.outcome})
			if _, is := find[Reread](effects); is {
				asked++
			}
			w, ok = find[WriteSeal](b.pass(10 * time.Second))
		}
		if (asked > 0) != c.want {
			t.Errorf("%d times %v: asked %d times for another reading, want some: %v", c.times, c.outcome, asked, c.want)
		}
	}
}

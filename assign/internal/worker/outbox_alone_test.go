package worker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// blind is a scheduler that cannot read some tasks: it answers no report that says something of one
// of them.
type blind struct {
	outbox
	now     time.Time
	settled map[string]time.Time // when
}

const opaque = "later"

func (b *blind) returns(id string) {
	f := frame.Finding{ID: id, Attempt: tasks.Attempt{Epoch: 1, N: 1}, Verb: tasks.Succeeded}
	b.keep(f)
	b.ready(id, f.Attempt)
}

// turn is one of the worker's loop: what is overdue is taken back, and all is sent that may be; it
// is answered at once, or never.
func (b *blind) turn(t *testing.T) {
	t.Helper()
	b.overdue(b.now)
	for !b.now.Before(b.pause) {
		number, list := b.report(b.now, reportSize, 500*time.Millisecond)
		if number == 0 {
			break
		}
		if len(b.flights) > maxFlights {
			t.Fatalf("%d reports are under way", len(b.flights))
		}
		if slices.ContainsFunc(list, func(f frame.Finding) bool { return strings.HasPrefix(f.ID, opaque) }) {
			continue
		}
		for _, h := range b.acknowledge(acknowledged{number, make([]bool, len(list)), true}) {
			b.settled[h.ID] = b.now
			b.forget(h.ID, h.Attempt)
		}
	}
	b.now = b.now.Add(100 * time.Millisecond)
}

// TestWhatIsNotSettledKeepsNothingElse: a scheduler that cannot read some tasks never answers a
// report with a result of theirs in it. The results of the others are settled all the same, and
// these stay for a scheduler that can read them. Results that come meanwhile do not wait for any of
// them.
func TestWhatIsNotSettledKeepsNothingElse(t *testing.T) {
	for _, unread := range []int{1, 7, 100} {
		t.Run(fmt.Sprint(unread), func(t *testing.T) {
			const others = 400
			b := &blind{outbox: newOutbox("in."), now: time.Now(), settled: map[string]time.Time{}}
			began := b.now
			for i := range others {
				b.returns(fmt.Sprint("old", i))
				if i < unread*4 && i%4 == 0 {
					b.returns(fmt.Sprint(opaque, i))
				}
			}
			b.turn(t)
			b.overdue(b.now.Add(2 * time.Second))
			b.now = b.pause // after what had no answer for the first time
			turns := 0
			for ; len(b.settled) < others+turns; turns++ {
				id, now := fmt.Sprint("new", turns), b.now
				b.returns(id)
				if b.turn(t); !b.settled[id].Equal(now) {
					t.Fatalf("what has returned after %v waits for what cannot be read", now.Sub(began))
				}
				if turns == 36000 {
					t.Fatalf("%d of %d are settled within an hour", len(b.settled), others+turns)
				}
			}
			if len(b.findings) != unread {
				t.Errorf("%d results are kept, want %d", len(b.findings), unread)
			}
			t.Logf("after %v all others are settled", b.now.Sub(began))

			b.again(nil) // a scheduler that reads them
			number, list := b.report(b.now, reportSize, time.Second)
			if len(list) != unread || len(b.acknowledge(acknowledged{number, make([]bool, len(list)), true})) != unread {
				t.Errorf("the next scheduler is told of %d, want %d", len(list), unread)
			}
		})
	}
}

// TestNobodyListens: that doubts nothing of what was reported.
func TestNobodyListens(t *testing.T) {
	o, now := newOutbox("in."), time.Now()
	for i := range 3 {
		o.keep(frame.Finding{ID: fmt.Sprint(i)})
		o.ready(fmt.Sprint(i), tasks.Attempt{})
	}
	for range 20 {
		number, list := o.report(now, reportSize, time.Second)
		if len(list) != 3 {
			t.Fatalf("%d results in a report, want 3", len(list))
		}
		o.acknowledge(acknowledged{number: number})
		o.overdue(now)
		if !now.Before(o.pause) {
			t.Fatal("it is tried again at once")
		}
		now = o.pause
	}
}

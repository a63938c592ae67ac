package tasks

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAWaitThatBeginsWhileTheClockIsBehind: a record that has come late puts the clock back. The
// wait of an attempt that fails just then ends no sooner when the next record shows the time, and
// no later when its note has been read.
func TestAWaitThatBeginsWhileTheClockIsBehind(t *testing.T) {
	for name, c := range map[string]struct {
		late, stored time.Time     // when the late record was, zero for none, and the note
		next         time.Time     // the next one
		wait         time.Duration // after that
	}{
		"a record came late":            {at(0, 1), at(0, 40), at(0, 40), 30 * time.Second},
		"the note came late too":        {at(0, 1), at(0, 20), at(0, 40), 10 * time.Second},
		"the stream's clock went back":  {at(-60, 0), at(-60, 0), at(-60, 0), 30 * time.Second},
		"the note is the first to show": {time.Time{}, at(-60, 0), at(-60, 0), 30 * time.Second},
	} {
		for _, read := range []bool{true, false} { // the note is read before its acknowledgement comes
			b := newDriver(t)
			b.step(CaughtUp{})
			b.step(Members{List: []Member{idle(200, 10)}})
			b.sealAt(2, at(0, 0))
			p := Policy{Kind: "k", MaxAttempts: 3, Backoff: 30 * time.Second, MaxBackoff: time.Minute}
			pushed := b.step(Submitted{ID: "x", Revision: 3, Stored: at(0, 0), Policy: &p})
			expect(t, "at first", handedOut(pushed), "x@w200")
			b.accept(pushed)
			b.pass(40 * time.Second)
			other := &Policy{Kind: "other", MaxAttempts: 3}
			if !c.late.IsZero() {
				b.step(Submitted{ID: "late", Revision: 4, Stored: c.late, Policy: other})
			}
			note, ok := find[WriteNote](b.step(Done{
				Session: 200, ID: "x", Attempt: Attempt{100, 1},
				Result: Result{Verb: Failed},
			}))
			if !ok {
				t.Fatal("the failure is not noted")
			}
			acknowledged := Written{Write: note.Write, Outcome: record.Won, Revision: 6}
			noted := Noted{ID: "x", Revision: 6, Stored: c.stored, Retry: note.Retry}
			next := Submitted{ID: "next", Revision: 5, Stored: c.next, Policy: other}
			all := []Event{acknowledged, next, noted}
			switch {
			case read:
				all = []Event{noted, acknowledged, next}
			case c.next.After(c.stored):
				all = []Event{acknowledged, noted, next}
			}
			for _, ev := range all {
				if early := handedOut(b.step(ev)); len(early) > 0 {
					t.Errorf("%s, %t: its wait is over at once: %v", name, read, early)
				}
			}
			if early := handedOut(b.pass(c.wait - time.Second)); len(early) > 0 {
				t.Errorf("%s, %t: a second early: %v", name, read, early)
			}
			expect(t, name, handedOut(b.pass(2*time.Second)), "x@w200")
		}
	}
}

package protocol

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestWindowOfABurst: a process that can claim a thousand roles sends a few at first, more with
// each answer, and begins again with the next thousand. All of them are claimed.
func TestWindowOfABurst(t *testing.T) {
	const roles = 1000
	store := &bucket{}
	m := opened(store, "a", at(0), 0)
	now := time.Second
	for burst := range 3 {
		var out []Effect
		for i := range roles {
			out = m.Step(at(now), Join{RoleConfig{Name: fmt.Sprintf("r%d-%d", burst, i)}}, out)
		}
		first, most := m.window.inflight, 0
		for {
			var asked []Write
			for _, e := range out {
				if w, ok := e.(Write); ok {
					asked = append(asked, w)
				}
			}
			if len(asked) == 0 {
				break
			}
			now += time.Millisecond
			out = out[:0:0]
			for _, w := range asked { // what was in flight is answered together
				entry := store.write(w)
				out = m.Step(at(now), Written{ID: w.ID, Outcome: record.Won, Revision: entry.Revision}, out)
				out = m.Step(at(now), Delivered{&entry}, out)
			}
			if m.window.inflight > m.window.size {
				t.Fatalf("burst %d: %d in flight, the window is %d", burst, m.window.inflight, m.window.size)
			}
			most = max(most, m.window.inflight)
		}
		if m.leading != (burst+1)*roles {
			t.Fatalf("burst %d: it leads %d roles", burst, m.leading)
		}
		if first != firstWindow || most <= firstWindow {
			t.Errorf("burst %d: %d in flight at first, %d at most", burst, first, most)
		}
	}
}

// TestWindow: whatever the outcomes, nobody waits while nothing is in flight, a write that enters
// finds no more in flight than the window is wide, and writes that have to wait are let in in
// order.
func TestWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := New(testConfig("a"))
		var waiting, inflight []*RoleView
		enter := func(rv *RoleView) {
			wide := m.window.size
			if m.enter(rv) {
				inflight = append(inflight, rv)
				if len(inflight) > wide {
					t.Fatalf("%d in flight, the window is %d", len(inflight), wide)
				}
			} else {
				waiting = append(waiting, rv)
			}
		}
		refill := func() {
			m.todoRole = m.todoRole[:0]
			m.refill()
			for _, rv := range m.todoRole {
				if rv != waiting[0] {
					t.Fatalf("%s is let in before %s", rv.Name, waiting[0].Name)
				}
				rv.Notes.queued = false
				waiting = waiting[1:]
				enter(rv)
			}
		}
		answer := func(o record.Outcome) {
			inflight = inflight[1:]
			m.leave(o, 0, 0)
			refill()
			if len(inflight) == 0 && (len(waiting) > 0 || m.window.size > firstWindow) {
				t.Fatalf("at rest %d wait, the window is %d", len(waiting), m.window.size)
			}
		}
		for i := range rapid.IntRange(1, 400).Draw(t, "steps") {
			if len(inflight) > 0 && rapid.Bool().Draw(t, "answer") {
				answer(rapid.SampledFrom([]record.Outcome{record.Won, record.Refused, record.Unknown, record.Unknown}).Draw(t,
					"outcome"))
			} else {
				enter(m.view.Mention(fmt.Sprint("r", i)))
			}
		}
		for len(inflight) > 0 {
			answer(record.Won)
		}
	})
}

package elections

import (
	"testing"
	"time"
)

// ms is a moment of these tests.
func ms(n int) time.Time { return time.Unix(1000, 0).Add(time.Duration(n) * time.Millisecond) }

// believes is a term that begins at the first of some moments and is seen to last at each of them,
// always with that much time left.
func believes(l *Ledger, process string, epoch uint64, left int, at ...int) *Hold {
	h := l.Promoted(process, "r", epoch, epoch, ms(at[0]), ms(at[0]+left))
	for _, n := range at {
		l.Believed(process, "r", epoch, ms(n), ms(n+left))
	}
	return h
}

// ends is work whose context was seen to end, and that has returned.
func ends(l *Ledger, h *Hold, at int) {
	l.Ended(h, ms(at), nil)
	l.drained(h, ms(at))
}

// TestRealtimeLedger: where the end of a term is written down late and its deadline was read now
// and then, what overlaps is found, and nothing else.
func TestRealtimeLedger(t *testing.T) {
	for _, c := range []struct {
		name  string
		plays func(l *Ledger)
		want  []string
	}{
		{"the next leads between the last sample and the context's end", func(l *Ledger) {
			a := believes(l, "a", 1, 2400, 0, 600, 1200, 1800, 2400, 3000, 3600, 4200)
			believes(l, "b", 2, 2400, 4210, 4790)
			ends(l, a, 4799)
		}, []string{"E1"}},
		{"the next leads a moment before the deadline", func(l *Ledger) {
			a := believes(l, "a", 1, 2400, 0, 600)
			ends(l, a, 9000)
			believes(l, "b", 2, 2400, 2999)
		}, []string{"E1"}},
		{"the next leads before the deadline of one that never ends", func(l *Ledger) {
			believes(l, "b", 2, 2400, 2000)
			believes(l, "a", 1, 2400, 0, 600)
		}, []string{"E1"}},
		{"the next leads within a term that no sample has seen", func(l *Ledger) {
			a := l.Promoted("a", "r", 1, 1, ms(0), ms(2400))
			believes(l, "b", 2, 2400, 90)
			ends(l, a, 100)
		}, []string{"E1"}},
		{"belief is seen after its deadline", func(l *Ledger) {
			a := believes(l, "a", 1, 2400, 0)
			believes(l, "b", 2, 2400, 2500)
			l.Believed("a", "r", 1, ms(2510), ms(2400))
			ends(l, a, 2520)
		}, []string{"E1"}},
		{"belief is seen after its end was written down", func(l *Ledger) {
			ends(l, believes(l, "a", 1, 2400, 0), 100)
			believes(l, "b", 2, 2400, 200)
			l.Believed("a", "r", 1, ms(210), ms(2400))
		}, []string{"E1"}},
		{"the next leads when the work has returned", func(l *Ledger) {
			ends(l, believes(l, "a", 1, 2400, 0, 600), 700)
			believes(l, "b", 2, 2400, 700)
		}, nil},
		{"the context's end is noticed long after the deadline", func(l *Ledger) {
			a := believes(l, "a", 1, 2400, 0, 600)
			believes(l, "b", 2, 2400, 3000, 9000)
			ends(l, a, 9000)
		}, nil},
		{"the deadline of one that never ends has passed", func(l *Ledger) {
			believes(l, "a", 1, 2400, 0, 600)
			believes(l, "b", 2, 2400, 3000)
		}, nil},
		{"the work has returned before the context's end is noticed", func(l *Ledger) {
			a := believes(l, "a", 1, 2400, 0, 600)
			l.drained(a, ms(1000))
			believes(l, "b", 2, 2400, 1001)
			l.Ended(a, ms(1500), nil)
		}, nil},
		{"samples stood still, and the role was given away meanwhile", func(l *Ledger) {
			ends(l, believes(l, "a", 1, 2400, 0), 2000)
			believes(l, "b", 2, 2400, 2001)
		}, nil},
		{"a deadline that was drawn nearer", func(l *Ledger) {
			a := believes(l, "a", 1, 2400, 0, 600)
			l.Believed("a", "r", 1, ms(700), ms(1500))
			believes(l, "b", 2, 2400, 1600)
			ends(l, a, 1700)
		}, nil},
		{"a term over before its work begins", func(l *Ledger) {
			a := l.Promoted("a", "r", 1, 1, ms(0), ms(0))
			believes(l, "b", 2, 2400, 2500)
			ends(l, a, 2600)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := NewLedger(true)
			c.plays(l)
			expect(t, l.Sweep(), c.want)
		})
	}
}

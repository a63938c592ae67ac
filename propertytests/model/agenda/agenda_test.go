package agenda

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestOrder: things happen by their moment, and those of one moment as they were added, whatever
// is added in between.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type thing struct{ at, number int }
		var (
			a            Agenda
			open         []thing
			number, done int
		)
		for range rapid.IntRange(0, 100).Draw(t, "things") {
			if len(open) == 0 || rapid.Bool().Draw(t, "add") {
				x := thing{rapid.IntRange(0, 9).Draw(t, "at"), number}
				number++
				open = append(open, x)
				a.Add(time.Duration(x.at), func() { done = x.number })
				continue
			}
			slices.SortStableFunc(open, func(x, y thing) int { return x.at - y.at })
			next, _ := a.Next()
			at, do := a.Take()
			do()
			if want := open[0]; at != next || at != time.Duration(want.at) || done != want.number {
				t.Fatalf("%d at %d (announced for %d), want %v", done, at, next, want)
			}
			open = open[1:]
		}
		if _, ok := a.Next(); ok != (len(open) > 0) || a.Added() != uint64(number) {
			t.Fatalf("something is left: %v, %d were added; want %d of %d", ok, a.Added(), len(open), number)
		}
	})
}

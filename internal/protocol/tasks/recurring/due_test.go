package recurring

import (
	"testing"
	"time"
)

// fullMinutes is a schedule of every full minute.
type fullMinutes struct{}

func (fullMinutes) Next(t time.Time) time.Time { return t.Truncate(time.Minute).Add(time.Minute) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(minute, second int) time.Time {
	return noon.Add(time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
}

func TestMissedTicks(t *testing.T) {
	for name, c := range map[string]struct {
		catchUp    CatchUp
		after, now time.Time
		want       []int // minutes
		dropped    int
	}{
		"nothing is due":                     {CatchUpLatest, at(0, 5), at(0, 59), nil, 0},
		"one is due":                         {CatchUpLatest, at(0, 5), at(1, 0), []int{1}, 0},
		"the latest of those missed":         {CatchUpLatest, at(0, 5), at(9, 30), []int{9}, 8},
		"all that were missed":               {CatchUpAll, at(0, 5), at(4, 30), []int{1, 2, 3, 4}, 0},
		"those missed are left out":          {CatchUpSkip, at(0, 5), at(9, 30), []int{8, 9}, 7},
		"the last one was missed, too":       {CatchUpSkip, at(0, 5), at(1, 59).Add(time.Hour), nil, 0},
		"a clock that was put back":          {CatchUpAll, at(5, 0), at(2, 0), nil, 0},
		"the last one that was submitted is": {CatchUpAll, at(5, 0), at(5, 30), nil, 0},
	} {
		r := &Plan{Schedule: fullMinutes{}, CatchUp: c.catchUp, Window: 90 * time.Second}
		if name == "the last one was missed, too" {
			r.Schedule = once{at(1, 0)}
			c.dropped = 1
		}
		list, dropped, _ := r.Due(c.after, c.now)
		var got []int
		for _, x := range list {
			got = append(got, int(x.Sub(noon)/time.Minute))
		}
		if len(got) != len(c.want) || dropped != c.dropped {
			t.Errorf("%s: %v, %d dropped", name, got, dropped)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

// once is a schedule of one moment.
type once struct{ at time.Time }

func (o once) Next(t time.Time) time.Time {
	if t.Before(o.at) {
		return o.at
	}
	return time.Time{}
}

// TestVeryManyMissedTicks: the newest of them are submitted, and the work is bounded.
func TestVeryManyMissedTicks(t *testing.T) {
	for name, after := range map[string]time.Time{"days": noon.AddDate(0, 0, -3), "centuries": noon.AddDate(-500, 0, 0)} {
		counted := &countedMinutes{}
		r := &Plan{Schedule: counted, CatchUp: CatchUpAll}
		list, _, seen := r.Due(after, noon)
		if len(list) != maxTicks || !list[len(list)-1].Equal(noon) || !seen.Equal(noon) ||
			!list[0].Equal(noon.Add(-(maxTicks-1)*time.Minute)) {
			t.Errorf("%s: %d, from %v to %v", name, len(list), list[0], seen)
		}
		if counted.n > 3*maxSteps {
			t.Errorf("%s: %d steps", name, counted.n)
		}
	}
}

type countedMinutes struct{ n int }

func (c *countedMinutes) Next(t time.Time) time.Time {
	c.n++
	return fullMinutes{}.Next(t)
}

// TestOneOfTheTicksThatAreDue: where each would be skipped for the one before, or cancel it.
func TestOneOfTheTicksThatAreDue(t *testing.T) {
	for o, want := range map[Overlap]int{Allow: 4, Queue: 4, Skip: 1, CancelRunning: 1} {
		p := &Plan{Schedule: fullMinutes{}, CatchUp: CatchUpAll, Overlap: o}
		list, dropped, seen := p.Due(at(0, 5), at(4, 30))
		if len(list) != want || dropped != 4-want || !list[want-1].Equal(at(4, 0)) || !seen.Equal(at(4, 0)) {
			t.Errorf("%d: %v, %d dropped, up to %v", o, list, dropped, seen)
		}
	}
}

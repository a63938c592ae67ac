package tasks

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// minutes is a schedule of every full minute.
type minutes struct{}

func (minutes) Next(t time.Time) time.Time { return t.Truncate(time.Minute).Add(time.Minute) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(minute, second int) time.Time {
	return noon.Add(time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
}

func TestMissedTicks(t *testing.T) {
	for name, c := range map[string]struct {
		missed     Missed
		after, now time.Time
		want       []int // minutes
		dropped    int
	}{
		"nothing is due":                     {RunLatest, at(0, 5), at(0, 59), nil, 0},
		"one is due":                         {RunLatest, at(0, 5), at(1, 0), []int{1}, 0},
		"the latest of those missed":         {RunLatest, at(0, 5), at(9, 30), []int{9}, 8},
		"all that were missed":               {RunAll, at(0, 5), at(4, 30), []int{1, 2, 3, 4}, 0},
		"those missed are left out":          {Skip, at(0, 5), at(9, 30), []int{8, 9}, 7},
		"the last one was missed, too":       {Skip, at(0, 5), at(1, 59).Add(time.Hour), nil, 0},
		"a clock that was put back":          {RunAll, at(5, 0), at(2, 0), nil, 0},
		"the last one that was submitted is": {RunAll, at(5, 0), at(5, 30), nil, 0},
	} {
		r := &Recurrence{Schedule: minutes{}, Missed: c.missed, Grace: 90 * time.Second}
		if name == "the last one was missed, too" {
			r.Schedule = once{at(1, 0)}
			c.dropped = 1
		}
		list, dropped, _ := r.due(c.after, c.now)
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
		counted := &countingSchedule{}
		r := &Recurrence{Schedule: counted, Missed: RunAll}
		list, _, seen := r.due(after, noon)
		if len(list) != maxTicks || !list[len(list)-1].Equal(noon) || !seen.Equal(noon) ||
			!list[0].Equal(noon.Add(-(maxTicks-1)*time.Minute)) {
			t.Errorf("%s: %d, from %v to %v", name, len(list), list[0], seen)
		}
		if counted.n > 3*maxSteps {
			t.Errorf("%s: %d steps", name, counted.n)
		}
	}
}

type countingSchedule struct{ n int }

func (c *countingSchedule) Next(t time.Time) time.Time {
	c.n++
	return minutes{}.Next(t)
}

func (b *books) wall(now time.Time) []Effect {
	b.now = b.now.Add(time.Millisecond)
	return b.s.Step(b.now, Tick{Wall: now}, nil)
}

func every(missed Missed) *Recurrence {
	return &Recurrence{Name: "r", Schedule: minutes{}, Missed: missed, Grace: 90 * time.Second, Policy: policy}
}

func TestTicksAreSubmittedInOrder(t *testing.T) {
	b := readyBooks(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(RunAll), Since: at(0, 10)})
	b.wall(at(0, 50))
	if next := b.s.Next(b.now); next != 10*time.Second {
		t.Errorf("the next tick in %v", next)
	}
	w, ok := find[WriteTick](b.wall(at(3, 1)))
	if !ok || w.ID != "cron/r/20260301T120100Z" || !w.Tick.Equal(at(1, 0)) || w.Guard != 2 {
		t.Fatalf("%+v", w)
	}
	if again, early := find[WriteTick](b.wall(at(3, 2))); early {
		t.Errorf("a second one under way: %+v", again)
	}
	// Its acknowledgement is lost, and the stream shows it.
	effects := b.step(Fired{Name: "r", Revision: 5, Tick: at(1, 0)})
	second, ok := find[WriteTick](effects)
	if f, told := find[Ticked](effects); !ok || !told || f.Fired != 1 || !second.Tick.Equal(at(2, 0)) {
		t.Fatalf("%+v", effects)
	}
	third, _ := find[WriteTick](b.step(Written{Write: second.Write, Outcome: record.Won, Revision: 7}))
	if !third.Tick.Equal(at(3, 0)) {
		t.Errorf("%+v", third)
	}
	b.step(Fired{Name: "r", Revision: 6, Tick: at(2, 0)}) // what the stream shows is behind what we know
	b.step(Written{Write: third.Write, Outcome: record.Won, Revision: 8})
	if w, ok := find[WriteTick](b.wall(at(3, 59))); ok {
		t.Errorf("%+v", w)
	}
	if w, _ := find[WriteTick](b.wall(at(4, 0))); !w.Tick.Equal(at(4, 0)) {
		t.Errorf("%+v", w)
	}
}

// TestATickIsNotRepeatedAfterAFailOver: the record of the last one says which were submitted.
func TestATickIsNotRepeatedAfterAFailOver(t *testing.T) {
	b := readyBooks(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(RunAll), Since: at(0, 10)})
	b.step(Fired{Name: "r", Revision: 4, Tick: at(2, 0)})
	if w, ok := find[WriteTick](b.wall(at(2, 59))); ok {
		t.Errorf("%+v", w)
	}
	if w, _ := find[WriteTick](b.wall(at(3, 0))); !w.Tick.Equal(at(3, 0)) {
		t.Errorf("%+v", w)
	}
}

// TestAChangedDefinitionBeginsAnew: earlier ticks were never its.
func TestAChangedDefinitionBeginsAnew(t *testing.T) {
	b := readyBooks(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(RunAll), Since: at(0, 10)})
	b.step(Fired{Name: "r", Revision: 4, Tick: at(1, 0)})
	b.step(Defined{Name: "r", Revision: 5, Recurrence: every(RunAll), Since: at(10, 30)})
	if w, ok := find[WriteTick](b.wall(at(10, 40))); ok {
		t.Errorf("%+v", w)
	}
	if w, _ := find[WriteTick](b.wall(at(11, 0))); !w.Tick.Equal(at(11, 0)) {
		t.Errorf("%+v", w)
	}
}

func TestARemovedRecurrence(t *testing.T) {
	b := readyBooks(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(RunLatest), Since: at(0, 10)})
	b.wall(at(5, 0)) // a tick is under way
	b.step(Defined{Name: "r", Revision: 3})
	if w, ok := find[WriteTick](b.wall(at(9, 0))); ok {
		t.Errorf("%+v", w)
	}
	e, ok := find[Erase](b.step(Fired{Name: "r", Revision: 4, Tick: at(5, 0)}))
	if !ok || e.What != TickRecord || e.ID != "r" {
		t.Errorf("%+v", e)
	}
	if len(b.s.recurs) != 0 {
		t.Errorf("%+v", b.s.recurs)
	}
}

func TestTheRecordOfARecurrenceThatWasRemovedBefore(t *testing.T) {
	b := newBooks(t)
	b.step(Fired{Name: "gone", Revision: 1, Tick: at(1, 0)})
	b.step(Fired{Name: "r", Revision: 2, Tick: at(1, 0)})
	b.step(Defined{Name: "r", Revision: 3, Recurrence: every(RunAll), Since: at(0, 0)})
	b.step(CaughtUp{})
	erased := findAll[Erase](b.seal(9))
	if len(erased) != 1 || erased[0].ID != "gone" {
		t.Errorf("%+v", erased)
	}
}

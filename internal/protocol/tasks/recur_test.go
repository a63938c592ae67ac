package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// minutes is a schedule of every full minute.
type minutes struct{}

func (minutes) Next(t time.Time) time.Time { return t.Truncate(time.Minute).Add(time.Minute) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func at(minute, second int) time.Time {
	return noon.Add(time.Duration(minute)*time.Minute + time.Duration(second)*time.Second)
}

func (b *driver) wall(now time.Time) []Effect {
	b.now = b.now.Add(time.Millisecond)
	return b.s.Step(b.now, Tick{Wall: now}, nil)
}

func every(catchUp recurring.CatchUp) *Recurrence {
	return &Recurrence{
		Name: "r", Policy: policy,
		Plan: recurring.Plan{Schedule: minutes{}, CatchUp: catchUp, Window: 90 * time.Second},
	}
}

func TestTicksAreSubmittedInOrder(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(recurring.CatchUpAll), Since: at(0, 10)})
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
	b := readyDriver(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(recurring.CatchUpAll), Since: at(0, 10)})
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
	b := readyDriver(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(recurring.CatchUpAll), Since: at(0, 10)})
	b.step(Fired{Name: "r", Revision: 4, Tick: at(1, 0)})
	b.step(Defined{Name: "r", Revision: 5, Recurrence: every(recurring.CatchUpAll), Since: at(10, 30)})
	if w, ok := find[WriteTick](b.wall(at(10, 40))); ok {
		t.Errorf("%+v", w)
	}
	if w, _ := find[WriteTick](b.wall(at(11, 0))); !w.Tick.Equal(at(11, 0)) {
		t.Errorf("%+v", w)
	}
}

func TestARemovedRecurrence(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	b.step(Defined{Name: "r", Revision: 1, Recurrence: every(recurring.CatchUpLatest), Since: at(0, 10)})
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
	b := newDriver(t)
	b.step(Fired{Name: "gone", Revision: 1, Tick: at(1, 0)})
	b.step(Fired{Name: "r", Revision: 2, Tick: at(1, 0)})
	b.step(Defined{Name: "r", Revision: 3, Recurrence: every(recurring.CatchUpAll), Since: at(0, 0)})
	b.step(Defined{Name: "gone", Revision: 4})
	b.step(CaughtUp{})
	erased := findAll[Erase](b.seal(9))
	if len(erased) != 1 || erased[0].ID != "gone" {
		t.Errorf("%+v", erased)
	}
}

// TestADefinitionThatChangesWhileAllIsRead: it comes behind our seal. The last tick stays, and no
// tick is submitted twice.
func TestADefinitionThatChangesWhileAllIsRead(t *testing.T) {
	b := newDriver(t)
	b.step(Fired{Name: "r", Revision: 1, Tick: at(2, 0)})
	b.step(CaughtUp{})
	if e, ok := find[Erase](b.seal(9)); ok {
		t.Errorf("the last tick is removed before the definition has come: %+v", e)
	}
	b.step(Defined{Name: "r", Revision: 10, Recurrence: every(recurring.CatchUpAll), Since: at(0, 10)})
	if w, ok := find[WriteTick](b.wall(at(2, 59))); ok {
		t.Errorf("%+v", w)
	}
	if w, _ := find[WriteTick](b.wall(at(3, 0))); !w.Tick.Equal(at(3, 0)) {
		t.Errorf("%+v", w)
	}
}

// countingSchedule counts how often it is asked.
type countingSchedule struct {
	n     *int
	first time.Time
}

func (c countingSchedule) Next(t time.Time) time.Time {
	*c.n++
	if t.Before(c.first) {
		return c.first
	}
	return t.Truncate(time.Hour).Add(time.Hour)
}

// TestATickCostsNothingForTheOthers: however many recurrences there are, those whose time has come
// are looked at, and no others.
func TestATickCostsNothingForTheOthers(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	b.wall(at(0, 5))
	const n = 20_000
	asked := 0
	for i := range n {
		r := every(recurring.CatchUpLatest)
		r.Name = fmt.Sprint("r", i)
		r.Schedule = countingSchedule{&asked, at(1+i, 0)}
		b.step(Defined{Name: r.Name, Revision: uint64(i + 1), Recurrence: r, Since: at(0, 0)})
	}
	for minute := range 10 {
		asked = 0
		fired := findAll[WriteTick](b.wall(at(minute+1, 0)))
		if len(fired) != 1 || fired[0].Recurrence.Name != fmt.Sprint("r", minute) {
			t.Fatalf("minute %d: %+v", minute, fired)
		}
		b.step(Written{Write: fired[0].Write, Outcome: record.Won, Revision: uint64(n + minute)})
		if asked > 5 {
			t.Errorf("minute %d: %d schedules were looked at", minute, asked)
		}
	}
}

// TestManyTicksAtOnce are spread over several steps, and none is left out.
func TestManyTicksAtOnce(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	b.wall(at(0, 5))
	const n = 3*maxDue + 1
	for i := range n {
		r := every(recurring.CatchUpLatest)
		r.Name = fmt.Sprint("r", i)
		b.step(Defined{Name: r.Name, Revision: uint64(i + 1), Recurrence: r, Since: at(0, 5)})
	}
	fired := 0
	for range 4 {
		now := len(findAll[WriteTick](b.wall(at(1, 0))))
		if fired += now; now > maxDue {
			t.Errorf("%d in one step", now)
		} else if wait := b.s.Next(b.now); fired < n && wait > 0 {
			t.Errorf("the next step in %v, and %d ticks are due", wait, n-fired)
		}
	}
	if fired != n {
		t.Errorf("%d of %d ticks", fired, n)
	}
}

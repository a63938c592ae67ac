package tasks

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// overlapping is a scheduler whose recurrence has a tick each minute, and whose first tick has been
// submitted: its task is open.
func overlapping(t *testing.T, o recurring.Overlap, catchUp recurring.CatchUp) *driver {
	t.Helper()
	b := readyDriver(t, SchedulerConfig{})
	r := every(catchUp)
	r.Overlap = o
	b.step(Defined{Name: "r", Revision: 1, Recurrence: r, Since: at(0, 10)})
	w, ok := find[WriteTick](b.wall(at(1, 0)))
	if !ok {
		t.Fatal("nothing was submitted")
	}
	b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 6})
	b.step(Submitted{ID: w.ID, Revision: 5, Policy: policy})
	b.step(Fired{Name: "r", Revision: 6, Tick: at(1, 0), Last: at(1, 0)})
	return b
}

// ends stores the outcome of a task.
func (b *driver) ends(id string, revision uint64) []Effect {
	return b.step(Settled{ID: id, Revision: revision, Status: StatusSucceeded})
}

const firstTick = "cron/r/20260301T120100Z"

func TestATickIsSkippedForGood(t *testing.T) {
	b := overlapping(t, recurring.Skip, recurring.CatchUpLatest)
	effects := b.wall(at(2, 0))
	pass, ok := find[WritePass](effects)
	told, _ := find[Ticked](effects)
	if _, fired := find[WriteTick](effects); fired || !ok || !pass.Tick.Equal(at(2, 0)) || !pass.Last.Equal(at(1, 0)) ||
		pass.Name != "r" || pass.Guard == 0 || told.Skipped != 1 || told.Dropped != 0 {
		t.Fatalf("%+v", effects)
	}
	b.ends(firstTick, 7)
	if w, ok := find[WriteTick](b.wall(at(2, 30))); ok {
		t.Errorf("submitted after it was skipped: %+v", w)
	}
	b.step(Written{Write: pass.Write, Outcome: record.Won, Revision: 8})
	if w, _ := find[WriteTick](b.wall(at(3, 0))); !w.Tick.Equal(at(3, 0)) {
		t.Errorf("%+v", w)
	}
}

// TestASkippedTickIsNotCaughtUpWith by the next scheduler.
func TestASkippedTickIsNotCaughtUpWith(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	r := every(recurring.CatchUpLatest)
	r.Overlap = recurring.Skip
	b.step(Fired{Name: "r", Revision: 1, Tick: at(2, 0), Last: at(1, 0)})
	b.step(Defined{Name: "r", Revision: 2, Recurrence: r, Since: at(0, 10)})
	b.step(Fired{Name: "r", Revision: 3, Tick: at(2, 0), Last: at(1, 0)})
	if w, ok := find[WriteTick](b.wall(at(2, 30))); ok {
		t.Errorf("%+v", w)
	}
}

func TestATickWaits(t *testing.T) {
	for name, c := range map[string]struct {
		catchUp recurring.CatchUp
		first   int // minute of the tick that follows
		dropped int
	}{"all": {recurring.CatchUpAll, 2, 0}, "latest": {recurring.CatchUpLatest, 4, 2}} {
		b := overlapping(t, recurring.Queue, c.catchUp)
		for minute := 2; minute < 5; minute++ {
			if w, ok := find[WriteTick](b.wall(at(minute, 30))); ok {
				t.Errorf("%s: submitted beside the open one: %+v", name, w)
			}
		}
		effects := b.ends(firstTick, 7)
		told, _ := find[Ticked](effects)
		if w, _ := find[WriteTick](effects); !w.Tick.Equal(at(c.first, 0)) || told.Dropped != c.dropped {
			t.Errorf("%s: %+v", name, effects)
		}
	}
}

// TestWhatWaitsIsSubmittedOneByOne: of ticks that wait, each waits for the end of the one before,
// also before the stream has shown its task.
func TestWhatWaitsIsSubmittedOneByOne(t *testing.T) {
	b := overlapping(t, recurring.Queue, recurring.CatchUpAll)
	b.wall(at(4, 30))
	w, ok := find[WriteTick](b.ends(firstTick, 7))
	if !ok {
		t.Fatal("nothing follows")
	}
	b.step(Written{Write: w.Write, Outcome: record.Won, Revision: 9})
	if w, ok := find[WriteTick](b.wall(at(4, 31))); ok {
		t.Errorf("before its task was shown: %+v", w)
	}
	b.step(Submitted{ID: w.ID, Revision: 8, Policy: policy})
	b.step(Fired{Name: "r", Revision: 9, Tick: w.Tick, Last: w.Tick})
	if w, ok := find[WriteTick](b.wall(at(4, 32))); ok {
		t.Errorf("while it is open: %+v", w)
	}
	if next := b.s.Next(b.now); next == 0 {
		t.Error("it looks at once whether it may continue")
	}
	if w, _ := find[WriteTick](b.ends(w.ID, 10)); !w.Tick.Equal(at(3, 0)) {
		t.Errorf("%+v", w)
	}
}

func TestATickTakesThePlaceOfTheOpenTask(t *testing.T) {
	b := overlapping(t, recurring.CancelRunning, recurring.CatchUpLatest)
	effects := b.wall(at(2, 0))
	o, ok := find[WriteOutcome](effects)
	if _, fired := find[WriteTick](effects); fired || !ok || o.ID != firstTick || o.Outcome.Status != StatusCancelled ||
		o.Outcome.Cause != CauseOverlap {
		t.Fatalf("%+v", effects)
	}
	effects = b.step(Written{Write: o.Write, Outcome: record.Won, Revision: 7})
	if w, _ := find[WriteTick](effects); !w.Tick.Equal(at(2, 0)) {
		t.Errorf("%+v", w)
	}
}

// TestEveryTaskOfARecurrenceIsOpen: one that somebody runs by hand, one that is requeued, and one
// that cannot be read here.
func TestEveryTaskOfARecurrenceIsOpen(t *testing.T) {
	for name, open := range map[string]func(b *driver){
		"by hand":  func(b *driver) { b.step(Submitted{ID: "cron/r/run-1", Revision: 8, Policy: policy}) },
		"requeued": func(b *driver) { b.step(Submitted{ID: firstTick, Revision: 8, Policy: policy}) },
		"unread":   func(b *driver) { b.step(Opaque{ID: firstTick, Revision: 8}) },
	} {
		b := overlapping(t, recurring.Queue, recurring.CatchUpLatest)
		b.ends(firstTick, 7)
		open(b)
		if w, ok := find[WriteTick](b.wall(at(2, 0))); ok {
			t.Errorf("%s: %+v", name, w)
		}
		effects := append(b.ends(firstTick, 9), b.ends("cron/r/run-1", 10)...)
		if w, _ := find[WriteTick](effects); !w.Tick.Equal(at(2, 0)) {
			t.Errorf("%s: afterwards %+v", name, w)
		}
		if len(b.s.instances) != 0 {
			t.Errorf("%s: %v are left", name, b.s.instances)
		}
	}
	// another recurrence, whose name begins with this one's
	b := overlapping(t, recurring.Queue, recurring.CatchUpLatest)
	b.ends(firstTick, 7)
	b.step(Submitted{ID: "cron/r/s/20260301T120100Z", Revision: 8, Policy: policy})
	if w, ok := find[WriteTick](b.wall(at(2, 0))); !ok {
		t.Errorf("%+v", w)
	}
	// and one whose name has a stroke
	b = readyDriver(t, SchedulerConfig{})
	r := every(recurring.CatchUpLatest)
	r.Name, r.Overlap = "r/s", recurring.Queue
	b.step(Defined{Name: "r/s", Revision: 1, Recurrence: r, Since: at(0, 10)})
	b.step(Submitted{ID: "cron/r/s/run-1", Revision: 8, Policy: policy})
	if w, ok := find[WriteTick](b.wall(at(2, 0))); ok {
		t.Errorf("%+v", w)
	}
}

// TestDroppedTicksAreNoted: no later scheduler submits what was too late once.
func TestDroppedTicksAreNoted(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	r := every(recurring.CatchUpSkip)
	r.Schedule = fewMinutes{}
	b.step(Defined{Name: "r", Revision: 1, Recurrence: r, Since: at(0, 10)})
	pass, ok := find[WritePass](b.wall(at(9, 59)))
	if !ok || !pass.Tick.Equal(at(5, 0)) || !pass.Last.IsZero() {
		t.Errorf("%+v", pass)
	}
}

// fewMinutes is a schedule of every fifth minute.
type fewMinutes struct{}

func (fewMinutes) Next(t time.Time) time.Time {
	return t.Truncate(5 * time.Minute).Add(5 * time.Minute)
}

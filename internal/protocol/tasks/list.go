package tasks

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/queue"
)

// maxLook bounds how many places one page of a listing looks at.
const maxLook = 8192

// Settled reports whether all has been read that stood before our seal, and nobody else's outcomes
// may come behind it: of the tasks in the state only those that we are ending (see TaskInfo.Ending)
// may have an outcome.
func (s *Scheduler) Settled() bool { return s.settled }

// List returns a page of open tasks, at most limit, and with which cursor to continue behind it, 0
// when there is no more. A page may hold fewer, or none, though there is more: it costs no more
// than its size and a bound. A task that is open all the while is met once, and under the cursor of
// another scheduler the listing begins again: then at least once.
func (s *Scheduler) List(now Instant, cursor uint64, f Filter, limit int) (page []TaskInfo, next uint64) {
	at := s.placeOf(cursor)
	why := s.reasons(now)
	for end := min(at+maxLook, len(s.tasks.slots)); at < end && len(page) < limit; at++ {
		if t := s.tasks.slots[at]; t != nil && f.takes(t) {
			page = append(page, s.taskInfo(now, t, why))
		}
	}
	if at < len(s.tasks.slots) {
		next = s.cursor(at)
	}
	return page, next
}

// cursor is a place in our table, below the last 32 bits of the epoch in which our term began.
// Every scheduler has its tasks in other places, and two in a row hardly share these bits.
func (s *Scheduler) cursor(at int) uint64 { return s.cfg.Epoch<<32 | uint64(at) }

// placeOf is where List continues. A cursor of another scheduler says nothing about our table.
func (s *Scheduler) placeOf(cursor uint64) int {
	at := int(uint32(cursor))
	if cursor != s.cursor(at) {
		return 0
	}
	return at
}

func (f *Filter) takes(t *task) bool {
	return strings.HasPrefix(t.id(), f.Prefix) && (len(f.Kinds) == 0 || slices.Contains(f.Kinds, t.policy.Kind)) &&
		(len(f.States) == 0 || slices.Contains(f.States, t.state()))
}

// TaskInfo looks a task up.
func (s *Scheduler) TaskInfo(now Instant, id string) (TaskInfo, bool) {
	t := s.tasks.get(id)
	if t == nil {
		return TaskInfo{}, false
	}
	return s.taskInfo(now, t, s.reasons(now)), true
}

func (s *Scheduler) taskInfo(now Instant, t *task, why *reasons) TaskInfo {
	clock := s.clock.At(now)
	g := TaskInfo{
		ID: t.id(), Revision: t.revision, Kind: t.policy.Kind, State: t.state(), Tries: t.tries(), Attempt: t.attempt,
		Priority: t.policy.Priority, Age: max(clock.Sub(t.stored), 0), Keys: t.keys(), Cursor: s.cursor(int(t.slot) + 1),
	}
	if t.deadline != never {
		g.Left = max(t.deadline.Sub(clock), 1)
	}
	switch t.phase {
	case waiting, parked:
		g.Waiting, g.Reason = now.Sub(t.since), why.of(t)
	case blocked:
		g.Reason = ReasonAfter
	case delayed:
		g.Due = max(t.due.Sub(clock), 0)
	case pushed, running, starting:
		g.Running, g.Progress = true, t.run.progress
		g.Tries++
	case noting:
		g.Due = t.run.write.retry.Wait
	case ending: // nobody holds it any more, and it looks as it did
		g.Ending, g.Tries, g.Progress = true, t.run.write.outcome.Tries, t.run.progress
	}
	if t.run != nil && t.run.worker != nil {
		g.Instance = t.run.worker.instance
	}
	return g
}

// Open is how many tasks have no outcome yet.
func (s *Scheduler) Open() int { return s.tasks.len() }

// Oldest is by kind the task that has been due for longest among those that are due and wait. It
// looks at every open task.
func (s *Scheduler) Oldest(now Instant) map[string]Oldest {
	first := map[string]*task{}
	for _, t := range s.tasks.slots {
		if t != nil && (t.phase == waiting || t.phase == parked) {
			if f := first[t.policy.Kind]; f == nil || t.due < f.due {
				first[t.policy.Kind] = t
			}
		}
	}
	why, clock, oldest := s.reasons(now), s.clock.At(now), map[string]Oldest{}
	for kind, t := range first {
		oldest[kind] = Oldest{t.id(), max(clock.Sub(t.due), 0), why.of(t)}
	}
	return oldest
}

// Oldest is a task that waits, for how long it has been due, and why nobody has it.
type Oldest struct {
	ID      string
	Waiting time.Duration
	Reason  Reason
}

// Tenants are by kind the fair keys of which the most tasks are due and wait, most of each kind at
// most. It looks at every key. Tasks that a key limit holds back are not counted.
func (s *Scheduler) Tenants(most int) map[string]Tenants {
	all := map[string]Tenants{}
	for name, k := range s.kinds {
		if k.turns != nil && k.turns.Len() > 0 {
			all[name] = Tenants{k.turns.Len(), k.turns.Most(most)}
		}
	}
	return all
}

// Tenants are fair keys of a kind: how many have tasks that wait, and those with the most.
type Tenants struct {
	Keys int
	Top  []queue.Count
}

// Overview is the state in numbers.
func (s *Scheduler) Overview() Overview {
	why := s.reasons(s.now)
	o := Overview{Epoch: s.epoch, Ready: s.ready, Open: s.tasks.len()}
	names := slices.AppendSeq(slices.Collect(maps.Keys(s.paused)), maps.Keys(s.kinds))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		k := s.kinds[name]
		switch {
		case k == nil:
			o.Kinds = append(o.Kinds, KindView{Kind: name, Paused: true})
		case k.open > 0 || k.paused:
			o.Kinds = append(o.Kinds, KindView{
				Kind: name, Waiting: int(k.count[waiting] + k.count[parked]),
				Delayed: int(k.count[delayed] + k.count[noting] + k.count[blocked]),
				Running: k.held() + int(k.count[ending]), Paused: k.paused, Concurrency: k.Concurrency, Rate: k.Rate,
				KeyLimit: k.recorded(),
				Reasons:  why.ofKind(k),
			})
		}
	}
	absent := maps.Clone(s.drained)
	for _, w := range s.workerList {
		if w.works {
			delete(absent, w.instance)
			o.Workers = append(o.Workers, WorkerView{
				Instance: w.instance, Session: w.session, Slots: w.slots, Load: w.load, Running: len(w.held),
				Draining: w.draining, Drained: w.drained, Unreachable: w.unreachable,
				Told: s.reach.Told(w.instance, w.session), Own: w.own, Labels: maps.Clone(w.labels), Kinds: slices.Clone(w.kinds),
			})
		}
	}
	for _, instance := range slices.Sorted(maps.Keys(absent)) {
		o.Workers = append(o.Workers, WorkerView{Instance: instance, Drained: true})
	}
	return o
}

// TaskInfo is what the scheduler knows about one open task.
type TaskInfo struct {
	ID       string
	Revision uint64 // of its submission
	Kind     string
	State    State
	Running  bool
	Ending   bool    // its outcome is being stored, and may be in the stream: look there to know for certain
	Tries    int     // attempts that ran or run
	Attempt  Attempt // the last, zero before the first
	Instance string  // that has it, "" for none
	Progress float32 // of the running attempt, of 1
	Priority int
	Age      time.Duration // since it was submitted
	Due      time.Duration // until it may run, 0 when it may
	Waiting  time.Duration // since it may run, when nobody has it
	Reason   Reason        // why nobody has it, though it may run
	Left     time.Duration // until it expires, 0: never
	Keys     *Keys         // nil: none
	Cursor   uint64        // with which List continues behind it
}

// Filter selects tasks: each of its parts that is not empty must hold.
type Filter struct {
	States []State
	Kinds  []string
	Prefix string // of the id
}

// Overview is the state in numbers. Its parts are copies.
type Overview struct {
	Epoch   uint64
	Ready   bool
	Open    int
	Kinds   []KindView // by name
	Workers []WorkerView
}

// KindView is one kind of which tasks are open, or which is paused.
type KindView struct {
	Kind        string
	Waiting     int // due
	Delayed     int // not due yet: delayed or retrying, or waiting for other tasks
	Running     int
	Paused      bool
	Concurrency int            // 0: any number
	Rate        float64        // likewise
	KeyLimit    int            // of its record, 0: of each submission
	Reasons     map[Reason]int // why those that wait do, and how many; nil: it is only a matter of moments
}

// WorkerView is one session that takes tasks, or an instance that is drained and has none: then
// Session is 0.
type WorkerView struct {
	Instance string
	Session  uint64
	Slots    int
	Load     int  // slots that are taken
	Running  int  // tasks
	Draining bool // it takes nothing more, since it is being closed
	Drained  bool // it is given nothing more, since somebody wants that
	// Unreachable: messages do not reach it, and it is given nothing until they do.
	Unreachable bool
	Told        bool // it was so for longer than a crash takes to be known
	Own         bool
	Labels      map[string]string
	Kinds       []string
}

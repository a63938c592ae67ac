package tasksim

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gaps"
)

// lead is one term: the real rules, a reading of the stream, and a way to write.
type lead struct {
	w        *taskWorld
	p        *participant
	session  uint64
	term     uint64 // its first epoch
	epoch    uint64 // rotation moves it
	s        *tasks.Scheduler
	over     bool
	stubborn bool // deposed, and continues for a while
	read     int  // of the stream
	gaps     gaps.Reading
	snapshot int // what stood in the stream when the reading began
	caughtUp bool
	told     map[uint64]bool // deaths
	awaited  map[uint64]bool // sessions whose end it has asked for
	seals    uint64          // the sequence of its last seal
	began    time.Duration
	model    model
	wishes   map[string]int // by task: whether its outcome is to stay
	sent     time.Duration  // when the last write arrives: one connection keeps their order
	wait     gathering
}

func newLead(p *participant, epoch uint64) *lead {
	w := p.w
	l := &lead{
		w: w, p: p, session: p.session, term: epoch, epoch: epoch, snapshot: len(w.store.log), told: map[uint64]bool{},
		awaited: map[uint64]bool{}, wishes: map[string]int{},
		s: tasks.NewScheduler(tasks.SchedulerConfig{
			Epoch: epoch, CrashBudget: w.budget(), AnswerTime: w.Lease / 10, WriteTime: w.Lease / 5,
			LossTime: 3 * w.Lease / 2, Silence: w.silence(),
			TallyEvery: w.Lease / 2, Unclosed: groupUnclosed * w.Lease,
			AgingStep: w.Lease / 4, Rand: w.rng.Float64,
		}),
		model: newModel(),
	}
	w.leads = append(slices.DeleteFunc(w.leads, func(o *lead) bool { return o.over }), l)
	l.began = w.now
	w.after(w.upTo(w.ReadLag), func() { p.does(l.reads) })
	p.later(w.Lease/10, l.tick)
	return l
}

func (l *lead) stop() { l.over = true }

// rotate gives the term its next epoch, which its own process hears of a moment later.
func (l *lead) rotate() {
	l.w.Rotations++
	epoch := l.w.append(roleRecord, l.p, l.session)
	l.p.later(l.w.upTo(l.w.Delay), func() {
		if epoch > l.epoch {
			l.epoch = epoch
			l.step(tasks.Rotated{Epoch: epoch})
		}
	})
}

// hears reports whether it listens to what is meant for the leader at an epoch.
func (l *lead) hears(epoch uint64) bool { return !l.over && l.term <= epoch && epoch <= l.epoch }

// able reports whether the scheduler does anything: a deposed one does, until it notices.
func (l *lead) able() bool { return !l.over && l.p.up }

func (l *lead) tick() {
	if l.over {
		return
	}
	if l.able() {
		l.step(l.tickNow())
	}
	l.p.later(max(min(l.s.Next(l.p.instant()), l.w.Lease/10), time.Millisecond), l.tick)
}

func (l *lead) step(ev tasks.Event) {
	if !l.able() {
		return
	}
	switch e := ev.(type) {
	case tasks.Done:
		l.w.tell(e.ID, "%s@%d hears %v done at %d: %v", l.p.name, l.epoch, e.Attempt, e.Session, e.Result.Verb)
	case tasks.Synced:
		l.w.tell(l.w.Trace, "%s@%d synced with %d: %v", l.p.name, l.epoch, e.Session, e.Held)
	case tasks.Dead:
		l.w.tell(l.w.Trace, "%s@%d knows %d dead", l.p.name, l.epoch, e.Session)
	case tasks.Answered:
		for _, a := range e.Answers {
			l.w.tell(a.ID, "%s@%d hears %v of %v from %d", l.p.name, l.epoch, a.Verdict, a.Attempt, e.Session)
		}
	}
	ready := l.s.Ready()
	l.model.unreached.hears(l, ev)
	effects := l.s.Step(l.p.instant(), ev, nil)
	l.watchLimits(ev, ready)
	for _, e := range effects {
		if l.over {
			return
		}
		l.execute(e)
		if l.w.Effects++; l.w.Effects == l.w.CrashAt {
			l.p.crash()
			return
		}
	}
	l.late()
	l.flush()
}

// budget is how many lost workers a task may be blamed for.
func (w *taskWorld) budget() int { return cmp.Or(w.Budget, 1000) }

// silence is after how long a worker that does not answer is ended at rest.
func (w *taskWorld) silence() time.Duration {
	if w.AtRest {
		return 2 * w.Lease / 5
	}
	return 0
}

// zone is a label of a process.
func zone(name string) string { return strconv.Itoa(int(name[0]-'a') & 1) }

// rest ends a term in peace: the seal says so.
func (l *lead) rest() {
	if !l.over && l.seals != 0 && l.s.Ready() {
		l.w.Rests++
		l.w.store.write(put{sealSubject, sealOf{l.epoch, l, true, l.s.Doubted()}, sealSubject, l.seals})
	}
	l.stop()
}

func (l *lead) execute(effect tasks.Effect) {
	w := l.w
	switch e := effect.(type) {
	case tasks.WriteSeal:
		l.write(e.Write, put{sealSubject, sealOf{e.Epoch, l, false, 0}, sealSubject, e.Expect})
	case tasks.Reread:
		w.Rereads++ // what is read here has no other replica to come from
	case tasks.WriteOutcome:
		l.model.ends(e.ID)
		l.checkExpiry(&e)
		l.checkHistory(&e)
		l.lastRejection(&e)
		outcome := l.keeps(&e)
		if e.Again {
			w.Again++
			l.write(e.Write, put{"q." + e.ID, outcome, "q." + e.ID, e.Revision},
				put{"t." + e.ID, erased{}, sealSubject, e.Guard})
			return
		}
		p := put{"q." + e.ID, outcome, sealSubject, e.Guard}
		if e.Member.Revision > 0 {
			l.gather(gathered{number: e.Write, put: p, member: e.Member})
			return
		}
		l.write(e.Write, p)
	case tasks.KeepOutcome:
		l.change(e.ID, true)
	case tasks.ReleaseOutcome:
		l.change(e.ID, false)
	case tasks.WriteNote:
		w.tell(e.ID, "%s@%d writes note %+v", l.p.name, l.epoch, e.Retry)
		if !e.Retry.Started.IsZero() {
			w.Begun++
			l.turned(e.ID)
		}
		w.suspects(&e.Retry)
		l.write(e.Write, put{"t." + e.ID, l.noteOf(&e), sealSubject, e.Guard})
	case tasks.WriteCheckpoint:
		l.write(e.Write, put{"c." + e.ID, checkpoint{e.Attempt, int(e.Data[0])<<8 | int(e.Data[1])}, sealSubject, e.Guard})
	case tasks.Erase:
		subject := map[tasks.Record]string{
			tasks.NoteRecord: "t.", tasks.CheckpointRecord: "c.", tasks.CancelRecord: "x.", tasks.TickRecord: "k.",
		}[e.What] + e.ID
		if e.Expect != 0 {
			l.write(e.Write, put{subject, erased{}, subject, e.Expect})
			return
		}
		l.write(e.Write, put{subject, erased{}, sealSubject, e.Guard})
	case tasks.FreeUnique:
		l.write(e.Write, put{"u." + e.Key, erased{}, "u." + e.Key, e.Expect})
	case tasks.WriteTally:
		l.write(e.Write, put{"g." + e.ID, tallyOf{e.Of, e.Size, e.Closed, e.Fates}, sealSubject, e.Guard})
	case tasks.WriteTick:
		if l.model.paused["r."+e.Recurrence.Name] {
			w.fail("%s is submitted, and the recurrence is known to be paused", e.ID)
		}
		l.decides(&e)
		w.tell(e.ID, "%s@%d writes tick %d under %d", l.p.name, l.epoch, e.Write, e.Guard)
		l.write(e.Write, put{"q." + e.ID, submission{policy: e.Recurrence.Policy}, "q." + e.ID, 0},
			put{"k." + e.Recurrence.Name, tickOf{e.Tick, e.Tick}, sealSubject, e.Guard})
	case tasks.WritePass:
		l.passes(&e)
		l.write(e.Write, put{"k." + e.Name, tickOf{e.Tick, e.Last}, sealSubject, e.Guard})
	case tasks.Assign:
		l.handsOut(&e)
		for _, a := range e.List {
			w.assigns(a.ID, a.Attempt, e.Session)
			w.tell(a.ID, "%s@%d pushes %v serial %d low %d to %s/%d", l.p.name, l.epoch, a.Attempt, a.Serial, e.Low, e.Instance,
				e.Session)
		}
		l.frame(e.Instance, sentFrame{lead: l, epoch: e.Epoch, term: e.Term, session: e.Session, push: &e})
	case tasks.Stop:
		w.tell(e.ID, "%s@%d stops %v at %s/%d", l.p.name, l.epoch, e.Attempt, e.Instance, e.Session)
		l.frame(e.Instance, sentFrame{lead: l, epoch: e.Epoch, term: e.Term, session: e.Session, stop: &e})
	case tasks.Sync:
		l.frame(e.Instance, sentFrame{lead: l, epoch: e.Epoch, term: l.term, session: e.Session})
	case tasks.Unanswered:
		l.unanswered(e)
	case tasks.Unreached:
		l.named(&e)
	case tasks.Settle:
		if f, ok := e.Ref.(settle); ok {
			f(e.Stale)
		}
	case tasks.Fenced:
		w.Fenced++
		l.stop()
	case tasks.Ready:
		w.tell(w.Trace, "%s@%d ready", l.p.name, l.epoch)
		w.Adopted += e.Adopted
		l.model.ready = w.now
	case tasks.Ticked:
		w.Dropped += e.Dropped
		w.LeftOut += e.Skipped
	case tasks.Reassigned:
		if e.Cause == tasks.CauseWorkerLost {
			w.Counted++
		}
	case tasks.Broken:
		w.fail("%s", e.What)
	case tasks.Stale:
		w.Stale++
	}
}

// sorted are the values of a map in the order of its keys, so that a seed always plays the same.
func sorted[K cmp.Ordered, V any](m map[K]V) []V {
	all := make([]V, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[k])
	}
	return all
}

package tasksim

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// lead is one term: the real rules, a reading of the stream, and a way to write.
type lead struct {
	w        *world
	p        *process
	session  uint64
	epoch    uint64
	s        *tasks.Scheduler
	over     bool
	stubborn bool // deposed, and goes on for a while
	read     int  // of the stream
	snapshot int  // what stood in the stream when the reading began
	caughtUp bool
	told     map[uint64]bool // deaths
	seals    uint64          // the sequence of its last seal
	model    model
	sent     time.Duration // when the last write arrives: one connection keeps their order
}

func newLead(p *process, epoch uint64) *lead {
	w := p.w
	l := &lead{
		w: w, p: p, session: p.session, epoch: epoch, snapshot: len(w.store.log), told: map[uint64]bool{},
		s: tasks.NewScheduler(tasks.SchedulerConfig{
			Epoch: epoch, CrashBudget: w.budget(), AnswerTime: w.Lease / 10, WriteTime: w.Lease / 5,
			AgingStep: w.Lease / 4, Rand: w.rng.Float64,
		}),
		model: newModel(),
	}
	w.leads = append(slices.DeleteFunc(w.leads, func(o *lead) bool { return o.over }), l)
	w.after(w.upTo(w.ReadLag), l.reads)
	w.after(w.Lease/10, l.tick)
	return l
}

func (l *lead) stop() { l.over = true }

// able reports whether the scheduler does anything: a deposed one does, until it notices.
func (l *lead) able() bool { return !l.over && l.p.up }

// reads delivers some more of the stream.
func (l *lead) reads() {
	if l.over {
		return
	}
	l.w.after(time.Millisecond+l.w.upTo(l.w.ReadLag), l.reads)
	if l.p.cut || !l.p.up {
		return
	}
	for n := 1 + l.w.rng.IntN(20); n > 0 && l.read < len(l.w.store.log); n-- {
		l.read++
		r := l.w.store.log[l.read-1]
		if l.w.store.last[r.subject] != uint64(l.read) {
			continue // superseded
		}
		l.deliver(r, uint64(l.read))
	}
	if l.read >= l.snapshot && !l.caughtUp {
		l.caughtUp = true
		l.step(tasks.CaughtUp{})
	}
	l.step(l.tickNow())
}

// tickNow tells the time by the process's own clock, which may be anywhere.
func (l *lead) tickNow() tasks.Tick { return tasks.Tick{Wall: l.w.wall(l.w.now).Add(l.p.skew)} }

func (l *lead) deliver(r stored, sequence uint64) {
	family, id, _ := strings.Cut(r.subject, ".")
	_, gone := r.value.(erased)
	switch v := r.value.(type) {
	case sealOf:
		if v.lead == l {
			l.seals = sequence
		}
		l.step(tasks.SealSeen{Revision: sequence, Stored: l.w.wall(r.at), Epoch: v.epoch, Ours: v.lead == l, Clean: v.clean, Suspect: v.suspect})
		return
	case submission:
		if v.later && l.p.old {
			l.w.Opaque++
			l.step(tasks.Opaque{ID: id, Revision: sequence})
			return
		}
		l.step(tasks.Submitted{ID: id, Revision: sequence, Policy: v.policy, Keys: v.keys, Stored: l.w.wall(r.at)})
		return
	case tasks.Outcome:
		l.step(tasks.Settled{ID: id, Revision: sequence})
		return
	}
	switch family {
	case "t":
		note, _ := r.value.(tasks.Retry)
		l.step(tasks.Noted{ID: id, Revision: sequence, Stored: l.w.wall(r.at), Retry: note, Gone: gone})
	case "c":
		l.step(tasks.Saved{ID: id, Revision: sequence, Gone: gone})
	case "x":
		l.step(tasks.CancelAsked{ID: id, Revision: sequence, Gone: gone})
	case "p":
		l.model.paused[id] = !gone
		l.step(tasks.PauseSeen{Kind: id, Revision: sequence, Paused: !gone})
	case "d":
		l.model.drained[id] = !gone
		l.step(tasks.DrainSeen{Instance: id, Revision: sequence, Draining: !gone})
	case "u":
		u, _ := r.value.(uniqueOf)
		l.step(tasks.UniqueSeen{Key: id, Revision: sequence, Task: u.task})
	case "r":
		d, _ := r.value.(recurOf)
		defined := tasks.Defined{Name: id, Revision: sequence, Recurrence: d.of, Since: l.w.wall(r.at)}
		if d.later && l.p.old {
			l.w.Unreadable++
			defined.Recurrence, defined.Unreadable = nil, true
		}
		l.step(defined)
	case "k":
		k, _ := r.value.(tickOf)
		l.step(tasks.Fired{Name: id, Revision: sequence, Stored: l.w.wall(r.at), Tick: k.tick})
	default:
		l.w.fail("what is %T at %s", r.value, r.subject)
	}
}

// members tells the books what the view says, once it has carried our own role record.
func (l *lead) members() {
	if !l.able() || l.p.seen < int(l.epoch) {
		return
	}
	type sight struct{ described, draining, gone, closed bool }
	seen := map[uint64]sight{}
	who := map[uint64]string{}
	for _, r := range l.w.bucket.log[:l.p.seen] {
		s := seen[r.session]
		switch r.kind {
		case leaseRecord:
			who[r.session] = r.p.name
		case memberRecord:
			s.described, s.draining = true, s.draining || r.draining
		case deathRecord:
			s.gone, s.closed = true, r.closed
		default:
			continue
		}
		seen[r.session] = s
	}
	var list []tasks.Member
	var gone []uint64
	for _, session := range slices.Sorted(maps.Keys(seen)) {
		if s := seen[session]; s.gone {
			gone = append(gone, session)
		} else {
			list = append(list, tasks.Member{
				Instance: who[session], Session: session, Described: s.described, Works: s.described, Slots: l.w.Slots, Kinds: kinds,
				Labels: map[string]string{"zone": zone(who[session])}, Own: who[session] == l.p.name, Draining: s.draining,
			})
		}
	}
	l.step(tasks.Members{List: list})
	for _, session := range gone {
		if !l.told[session] {
			l.told[session] = true
			l.step(tasks.Dead{Session: session, Closed: seen[session].closed})
		}
	}
}

func (l *lead) tick() {
	if l.over {
		return
	}
	if l.able() {
		l.step(l.tickNow())
	}
	l.w.after(max(min(l.s.Next(protocol.Instant(l.w.now)), l.w.Lease/10), time.Millisecond), l.tick)
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
	for _, e := range l.s.Step(protocol.Instant(l.w.now), ev, nil) {
		if l.over {
			return
		}
		l.carryOut(e)
		if l.w.Effects++; l.w.Effects == l.w.CrashAt {
			l.p.crash()
			return
		}
	}
}

// budget is how many lost workers a task may have: only a poison is to die of them.
func (w *world) budget() int {
	if w.Poison {
		return 3
	}
	return 1000
}

// zone is a label of a process.
func zone(name string) string { return strconv.Itoa(int(name[0]-'a') & 1) }

// rest ends a term in peace: the seal says so.
func (l *lead) rest() {
	if !l.over && l.seals != 0 && l.s.Ready() {
		l.w.Rests++
		l.w.store.write(put{sealSubject, sealOf{l.epoch, l, true, l.s.Suspected()}, sealSubject, l.seals})
	}
	l.stop()
}

func (l *lead) carryOut(effect tasks.Effect) {
	w := l.w
	switch e := effect.(type) {
	case tasks.WriteSeal:
		l.write(e.Write, put{sealSubject, sealOf{e.Epoch, l, false, 0}, sealSubject, e.Expect})
	case tasks.WriteOutcome:
		l.model.ends(e.ID)
		if e.Again {
			w.Again++
			l.write(e.Write, put{"q." + e.ID, e.Outcome, "q." + e.ID, e.Revision}, put{"t." + e.ID, erased{}, sealSubject, e.Guard})
			return
		}
		l.write(e.Write, put{"q." + e.ID, e.Outcome, sealSubject, e.Guard})
	case tasks.WriteNote:
		w.tell(e.ID, "%s@%d writes note %+v", l.p.name, l.epoch, e.Retry)
		if !e.Retry.Started.IsZero() {
			w.Begun++
		}
		l.write(e.Write, put{"t." + e.ID, e.Retry, sealSubject, e.Guard})
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
	case tasks.WriteTick:
		w.tell(e.ID, "%s@%d writes tick %d under %d", l.p.name, l.epoch, e.Write, e.Guard)
		l.write(e.Write, put{"q." + e.ID, submission{policy: e.Recurrence.Policy}, "q." + e.ID, 0},
			put{"k." + e.Recurrence.Name, tickOf{e.Tick}, sealSubject, e.Guard})
	case tasks.Push:
		l.handsOut(&e)
		for _, a := range e.List {
			w.tell(a.ID, "%s@%d pushes %v serial %d low %d to %s/%d", l.p.name, l.epoch, a.Attempt, a.Serial, e.Low, e.Instance, e.Session)
		}
		l.frame(e.Instance, frame{lead: l, epoch: e.Epoch, term: e.Term, session: e.Session, push: &e})
	case tasks.Stop:
		w.tell(e.ID, "%s@%d stops %v at %s/%d", l.p.name, l.epoch, e.Attempt, e.Instance, e.Session)
		l.frame(e.Instance, frame{lead: l, epoch: e.Epoch, term: e.Term, session: e.Session, stop: &e})
	case tasks.Sync:
		l.frame(e.Instance, frame{lead: l, epoch: e.Epoch, term: l.epoch, session: e.Session})
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

// frame sends to an instance: whatever session it has then gets it.
func (l *lead) frame(instance string, f frame) {
	if f.push != nil {
		l.load(&f)
	}
	for _, p := range l.w.procs {
		if p.name == instance {
			l.w.send(l.p, p, func() {
				if p.work != nil {
					p.work.take(f, 0)
				}
			})
		}
	}
}

// load reads the checkpoints that go along with a frame. What goes with one that is gone is not sent, and now and then
// something else is not.
func (l *lead) load(f *frame) {
	w := l.w
	f.saved = map[string]int{}
	push, list := *f.push, f.push.List
	f.push, push.List = &push, nil
	for _, a := range list {
		if a.Checkpoint != 0 {
			c, ok := w.store.record("c." + a.ID).(checkpoint)
			if !ok || w.store.last["c."+a.ID] != a.Checkpoint {
				l.unsent(&push, a)
				continue
			}
			f.saved[a.ID] = c.number
		}
		if !w.calm && w.chance(w.Unsendable) {
			l.unsent(&push, a)
			continue
		}
		push.List = append(push.List, a)
	}
}

// unsent tells the books that an assignment was left out of a frame.
func (l *lead) unsent(push *tasks.Push, a tasks.Assignment) {
	l.w.Unsent++
	l.w.tell(a.ID, "%s@%d leaves %v out of frame %d", l.p.name, l.epoch, a.Attempt, push.Frame)
	session, number := push.Session, push.Frame
	l.w.after(l.w.upTo(l.w.Delay), func() {
		l.step(tasks.Answered{Session: session, Frame: number, Answers: []tasks.Answer{{ID: a.ID, Attempt: a.Attempt, Verdict: tasks.Unsent}}})
	})
}

// write brings a write to the stream. It may be lost, or be under way long after it was given up; its answer may be lost.
func (l *lead) write(number uint64, all ...put) {
	w := l.w
	answered := false
	answer := func(o protocol.Outcome, sequence uint64) {
		if !answered {
			answered = true
			l.step(tasks.Written{Write: number, Outcome: o, Revision: sequence})
		}
	}
	w.after(w.Lease, func() { answer(protocol.Unknown, 0) })
	if l.p.cut && w.chance(0.5) || !w.calm && w.chance(w.Loss) {
		return
	}
	arrives := max(w.now+w.travel(), l.sent)
	if l.p.cut || !w.calm && w.chance(w.Late) {
		w.LateWrites++
		arrives = w.now + w.upTo(6*w.Lease) // flushed after a reconnect
	} else {
		l.sent = arrives
	}
	w.after(arrives-w.now, func() {
		if !w.store.takes(all[0]) {
			w.Unstored++
			w.tell(all[0].subject[2:], "write %d of %s is never stored", number, all[0].subject)
			if !l.p.cut && (w.calm || !w.chance(w.Loss)) {
				w.after(w.travel(), func() {
					if !answered {
						answered = true
						l.step(tasks.Unstorable{Write: number, Body: "it is too large"})
					}
				})
			}
			return
		}
		outcome, sequence := w.store.write(all...)
		w.tell(all[0].subject[2:], "write %d of %s: %v", number, all[0].subject, outcome)
		if !l.p.cut && (w.calm || !w.chance(w.Loss)) {
			w.after(w.travel(), func() { answer(outcome, sequence) })
		}
	})
}

// sorted are the values of a map in the order of its keys, so that a seed always plays the same.
func sorted[K cmp.Ordered, V any](m map[K]V) []V {
	all := make([]V, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[k])
	}
	return all
}

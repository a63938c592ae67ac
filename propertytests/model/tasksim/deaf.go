package tasksim

import (
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// deafness is how the messages of schedulers miss a process that lives, or how its own are lost: by
// half of an import, say.
type deafness uint8

const (
	hears   deafness = iota
	unheard          // the server says that nobody listens
	muffled          // somebody else listens, too: nothing is said
	mute             // it hears, and what it says is lost
)

// misses reports whether a message misses a process. If the server says so, it has delivered the
// message to nobody; it says so late, twice or not at all.
func (l *lead) misses(p *participant, f *sentFrame) bool {
	if p.deaf == hears || p.deaf == mute {
		return false
	}
	if p.deaf == unheard {
		e := tasks.NoResponder{Session: f.session}
		if f.push != nil {
			e.Frame = f.push.Frame
		}
		l.w.send(l.p, l.p, func() { l.step(e) })
	}
	l.w.Missed++
	return true
}

// deafen makes a process deaf for a while.
func (w *taskWorld) deafen(p *participant) {
	p.deaf = []deafness{unheard, unheard, muffled, mute}[w.rng.IntN(4)]
	w.after(w.upTo(4*w.Lease), func() {
		if !p.leadsOther {
			p.deaf = hears
		}
	})
}

// outcast makes the last process one that never hears a scheduler, and is never at rest. It joins
// when a scheduler has begun: what an earlier one may have told it nobody could know.
func (w *taskWorld) outcast() (joins time.Duration) {
	p := w.procs[len(w.procs)-1] // the one that was just made
	p.deaf, p.leadsOther = unheard, true
	return 2 * w.Lease
}

// estrange makes the last process one that has messages of schedulers miss it, or whose own are
// lost, from some moment on and for good. It is never at rest. Nobody else may know what a
// scheduler has sent it by then, or since. So the role is given to somebody else after that, at the
// latest when the faults end.
func (w *taskWorld) estrange() {
	p := w.procs[len(w.procs)-1]
	p.leadsOther = true
	w.after(w.upTo(w.Length/2), func() {
		p.deaf = []deafness{unheard, muffled, mute}[w.rng.IntN(3)]
	})
	w.after(w.Length, func() { w.due = true })
}

// withheld reports whether a task waits for a worker that nobody hears: that one runs it, or has
// its result, or has so of another task under the same limit.
func (w *taskWorld) withheld(id string) bool {
	mine, _ := w.store.record("q." + id).(submission)
	for _, p := range w.procs {
		if p.deaf != mute || p.work == nil {
			continue
		}
		for _, h := range p.work.m.Holding() {
			other, _ := w.store.record("q." + h.ID).(submission)
			if h.ID == id || mine.limitedWith(&other) {
				return true
			}
		}
	}
	return false
}

// limitedWith reports whether two tasks may not run at once for sure.
func (s *submission) limitedWith(o *submission) bool {
	if s.policy == nil || o.policy == nil {
		return false
	}
	return s.keys != nil && o.keys != nil && s.keys.Limit != "" && s.keys.Limit == o.keys.Limit ||
		s.policy.Kind == o.policy.Kind && s.policy.Concurrency > 0
}

// unreached are the sessions that a scheduler has heard not to be reached, and the latest session
// of each instance, as seen from outside.
type unreached struct {
	sessions map[uint64]bool
	latest   map[string]uint64
	answered map[uint64]bool // sessions that have said what they hold, when they were asked or by themselves
}

func newUnreached() unreached {
	return unreached{map[uint64]bool{}, map[string]uint64{}, map[uint64]bool{}}
}

// hears takes note of what a scheduler is told about that.
func (u *unreached) hears(l *lead, ev tasks.Event) {
	switch e := ev.(type) {
	case tasks.Members:
		for i := range e.List {
			if m := &e.List[i]; m.Session > u.latest[m.Instance] {
				u.sessions[m.Session] = u.sessions[u.latest[m.Instance]]
				u.latest[m.Instance] = m.Session
			}
		}
	case tasks.NoResponder:
		u.sessions[e.Session] = slices.Contains(l.s.Sessions(), e.Session)
	case tasks.Told:
		if e.Session < l.term && e.Epoch >= l.term && !l.s.Ready() && !u.answered[e.Session] &&
			slices.Contains(l.s.Sessions(), e.Session) {
			u.sessions[e.Session], u.answered[e.Session] = true, true
		}
	case tasks.Answered:
		if slices.ContainsFunc(e.Answers, func(a tasks.Answer) bool { return a.Verdict != tasks.Unsent }) {
			u.sessions[e.Session] = false
		}
	case tasks.Synced:
		u.sessions[e.Session], u.answered[e.Session] = false, true
	case tasks.Stopped:
		u.sessions[e.Session] = false
	}
	maps.DeleteFunc(u.sessions, func(_ uint64, is bool) bool { return !is })
}

// checkReach: a worker that messages do not reach is given nothing new.
func (l *lead) checkReach(e *tasks.Assign, fresh []tasks.Assignment) {
	if l.model.unreached.sessions[e.Session] {
		l.w.fail("%s is handed to %s, which messages do not reach", fresh[0].ID, e.Instance)
	}
}

// named: a session that is said not to be reached is not known to be dead.
func (l *lead) named(e *tasks.Unreached) {
	l.w.Named++
	if e.Times == 1 && l.told[e.Session] {
		l.w.fail("session %d is said not to be reached, and it is dead", e.Session)
	}
}

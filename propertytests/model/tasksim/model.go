package tasksim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// model is what one scheduler has read and done, as seen from outside: so its limits are counted
// twice.
type model struct {
	paused, drained map[string]bool
	ticks           map[string]time.Time     // by recurrence: the last one that was asked for
	limits          map[string]boundBy       // records, by kind
	held            int                      // tasks that workers have,
	running         running                  // and which
	known           map[string]tasks.Attempt // the largest attempt that it has pushed
	rejections      map[string]rejection     // the last one of each task
	ready           time.Duration
	unreached       unreached
	turns           map[string]*turn // of fair keys
	went            []string         // the keys of what goes in this step
	limited         int              // hand-outs of the kind with a rate
	late            time.Duration    // by which a submission has come late, at most, since a seal
}

func (m *model) comes(late time.Duration) { m.late = max(m.late, late) }

func newModel() model {
	return model{
		paused: map[string]bool{}, drained: map[string]bool{}, ticks: map[string]time.Time{}, limits: map[string]boundBy{},
		known: map[string]tasks.Attempt{}, rejections: map[string]rejection{},
		unreached: newUnreached(), turns: map[string]*turn{},
	}
}

func (m *model) ends(id string) { delete(m.known, id) }

// handsOut checks what is pushed for the first time.
func (l *lead) handsOut(e *tasks.Assign) {
	var fresh []tasks.Assignment
	for _, a := range e.List {
		if l.model.known[a.ID].Compare(a.Attempt) < 0 {
			l.model.known[a.ID] = a.Attempt
			fresh = append(fresh, a)
		}
	}
	if len(fresh) == 0 {
		return
	}
	l.checkReach(e, fresh)
	w, now := l.w, l.p.instant()
	all, _ := l.s.List(now, 0, tasks.Filter{}, 1<<20)
	n := counted(all)
	for _, a := range fresh {
		p := a.Policy
		if l.model.paused[p.Kind] {
			w.fail("%s of the paused kind %s is handed out", a.ID, p.Kind)
		}
		if l.model.drained[e.Instance] {
			w.fail("%s is handed to %s, which is drained", a.ID, e.Instance)
		}
		if z, ok := p.Labels["zone"]; ok && z != zone(e.Instance) {
			w.fail("%s wants zone %s and is handed to %s", a.ID, z, e.Instance)
		}
		l.checkTime(&a)
		g, _ := l.s.TaskInfo(now, a.ID)
		l.checkLimits(&g, p, n)
		l.checkTurns(e.Instance, &g)
		back := w.Steps > 0 && w.pushed[a.Revision] // it may have come back at an earlier time than it was submitted at
		w.pushed[a.Revision] = true
		if e.Instance != l.p.name && !back { // there it may have been chosen long before
			l.checkTurn(&g, all)
		}
	}
}

// noticed is how long a scheduler may need to see that the stream's clock was put forward: it asks
// once a minute.
const noticed = 75 * time.Second

// oldest is the most that a scheduler may take a submission's age for by the stream's clock: where
// that was put back since, by what it had shown before.
func (l *lead) oldest(record *stored) time.Duration {
	_, most := l.w.store.aheadSince(record.at)
	if l.w.Steps > 0 {
		most += time.Second // which it tolerates
	}
	return l.w.now + most - record.clock + l.p.off(l.w.now-l.began) // since it knows that clock
}

// youngest is the least: that clock may be put forward, or records come late.
func (l *lead) youngest(record *stored) time.Duration {
	least, _ := l.w.store.aheadSince(record.at - noticed)
	return l.w.now + least - record.clock - l.p.off(l.w.now-l.began) - l.model.late - 2*l.w.Lease // which the seal takes
}

// checkExpiry: no task expires before its deadline.
func (l *lead) checkExpiry(e *tasks.WriteOutcome) {
	if e.Outcome.Status != tasks.StatusExpired {
		return
	}
	record := &l.w.store.log[e.Revision-1]
	age := l.oldest(record)
	if l.w.Skewed { // its worker has counted down what was left by the clock of the scheduler that handed it out
		age += time.Duration(float64(l.w.now) * maxRate)
	}
	if s, _ := l.w.store.submitted(e.ID, e.Revision); age < s.times.Deadline {
		l.w.fail("%s expires after %v: its deadline is %v", e.ID, age, s.times.Deadline)
	}
}

// checkTime: nothing is handed out before its time, or long after its deadline.
func (l *lead) checkTime(a *tasks.Assignment) {
	record := &l.w.store.log[a.Revision-1]
	s, _ := l.w.store.submitted(a.ID, a.Revision)
	times := s.times
	if age := l.oldest(record); age < times.Delay {
		l.w.fail("%s is handed out %v after it was submitted: its delay is %v", a.ID, age, times.Delay)
	}
	if latest := l.w.wall(record.clock + l.oldest(record)); !times.At.IsZero() && latest.Before(times.At) {
		l.w.fail("%s is handed out before %v: it is due at %v", a.ID, latest, times.At)
	}
	if age := l.youngest(record); times.Deadline > 0 && age > times.Deadline {
		l.w.fail("%s is handed out %v after it was submitted: its deadline is %v", a.ID, age, times.Deadline)
	}
}

// checkTurn: of two tasks that the same workers can run, the one that has waited longer goes first,
// each step of priority counting as so much waiting.
func (l *lead) checkTurn(handed *tasks.TaskInfo, all []tasks.TaskInfo) {
	waits := func(g *tasks.TaskInfo) bool {
		s, ok := l.w.store.submitted(g.ID, g.Revision)
		return ok && s.after != nil
	}
	if waits(handed) || handed.Tries > 1 || handed.Keys != nil || handed.Kind != "a" {
		return
	}
	turn := func(g *tasks.TaskInfo) time.Duration {
		return l.w.now - l.w.store.log[g.Revision-1].clock + time.Duration(g.Priority)*l.w.Lease/4
	}
	for i := range all {
		g := &all[i]
		if s, ok := l.w.store.record("q." + g.ID).(submission); !ok || len(s.policy.Labels) > 0 {
			continue
		}
		if g.Kind == "a" && !waits(g) && g.Waiting > 0 && g.Tries == 0 && g.Keys == nil && g.Attempt.IsZero() &&
			turn(g) > turn(handed)+l.p.off(l.w.now) {
			l.w.fail("%s waits, and %s is handed out before it", g.ID, handed.ID)
		}
	}
}

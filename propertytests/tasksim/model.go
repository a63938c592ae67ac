package tasksim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// model is what one scheduler has read and done, as seen from outside: so its limits are counted twice.
type model struct {
	paused, drained map[string]bool
	known           map[string]tasks.Attempt // the largest attempt that it has pushed
	ready           time.Duration
	limited         int // hand-outs of the kind with a rate
}

func newModel() model {
	return model{paused: map[string]bool{}, drained: map[string]bool{}, known: map[string]tasks.Attempt{}}
}

func (m *model) ends(id string) { delete(m.known, id) }

// handsOut checks what is pushed for the first time.
func (l *lead) handsOut(e *tasks.Push) {
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
	w, now := l.w, l.p.instant()
	all, _ := l.s.List(now, 0, tasks.Filter{}, 1<<20)
	running, byKey := map[string]int{}, map[string]int{}
	for _, g := range all {
		if g.State != tasks.StateRunning || !g.Running {
			continue
		}
		running[g.Kind]++
		if g.Keys != nil && g.Keys.Limit != "" {
			byKey[g.Keys.Limit]++
		}
	}
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
		if p.Concurrency > 0 && running[p.Kind] > p.Concurrency {
			w.fail("%d tasks of kind %s run at once", running[p.Kind], p.Kind)
		}
		if p.Rate > 0 {
			l.model.limited++
			if most := p.Rate * (w.now - l.model.ready).Seconds(); float64(l.model.limited) > most*1.03+0.01 { // the bucket was empty
				w.fail("%d tasks of kind %s within %v", l.model.limited, p.Kind, w.now-l.model.ready)
			}
		}
		g, _ := l.s.Glance(now, a.ID)
		if g.Keys != nil && g.Keys.Limit != "" && byKey[g.Keys.Limit] > p.KeyLimit {
			w.fail("%d tasks of key %s run at once", byKey[g.Keys.Limit], g.Keys.Limit)
		}
		if e.Instance != l.p.name { // there it may have been chosen long before
			l.checkTurn(&g, all)
		}
	}
}

// checkTime: nothing is handed out before its time by the stream's clock, or long after its deadline: what the seal takes to
// come back, that clock is behind.
func (l *lead) checkTime(a *tasks.Assignment) {
	record := &l.w.store.log[a.Revision-1]
	times, age := record.value.(submission).times, l.w.now-record.at
	off := l.p.off(l.w.now - l.began) // since it knows that clock
	if age < times.Delay-off || times.Deadline > 0 && age > times.Deadline+2*l.w.Lease+off {
		l.w.fail("%s is handed out %v after it was submitted: its delay is %v, its deadline %v", a.ID, age, times.Delay, times.Deadline)
	}
}

// checkTurn: of two tasks that the same workers can run, the one that has waited longer goes first, each step of priority
// counting as so much waiting.
func (l *lead) checkTurn(handed *tasks.Glance, all []tasks.Glance) {
	if handed.Tries > 1 || handed.Keys != nil || handed.Kind != "a" {
		return
	}
	turn := func(g *tasks.Glance) time.Duration {
		return l.w.now - l.w.store.log[g.Revision-1].at + time.Duration(g.Priority)*l.w.Lease/4
	}
	for i := range all {
		g := &all[i]
		if s, ok := l.w.store.record("q." + g.ID).(submission); !ok || len(s.policy.Labels) > 0 {
			continue
		}
		if g.Kind == "a" && g.Waiting > 0 && g.Tries == 0 && g.Keys == nil && g.Attempt.IsZero() && turn(g) > turn(handed)+l.p.off(l.w.now) {
			l.w.fail("%s waits, and %s is handed out before it", g.ID, handed.ID)
		}
	}
}

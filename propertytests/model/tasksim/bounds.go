package tasksim

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// limitsOf is the record of a kind's limits.
type limitsOf struct {
	declared *declaredLimits
	override *tasks.Limits
	until    time.Duration // of the override, by the stream's clock; 0: until it is taken back
	sharesOf               // of the kind whose keys take turns
}

// declaredLimits is what a program has declared.
type declaredLimits struct {
	version int
	limits  tasks.Limits
}

func (d *declaredLimits) rule() *tasks.Declaration {
	if d == nil {
		return nil
	}
	return &tasks.Declaration{Version: d.version, Terms: fmt.Sprint(d.limits)}
}

// now are the limits that count with the override, then those without. A concurrency of 0 is that
// of the newest submission, and so are the others.
func (x *limitsOf) now() tasks.Limits {
	l := x.then()
	if o := x.override; o != nil {
		l.Concurrency, l.KeyLimit = o.Concurrency, o.KeyLimit
	}
	return l
}

func (x *limitsOf) then() tasks.Limits {
	if x.declared != nil {
		return x.declared.limits
	}
	return tasks.Limits{}
}

const limited = "l.limited"

// bind keeps the limits of a kind in a record: programs of several versions declare them at their
// starts, some of them other ones under the same version, and operators override them.
func (w *taskWorld) bind() {
	if w.Bounded && !w.calm {
		if w.chance(0.7) {
			w.declare()
		} else {
			w.override()
		}
		w.after(w.upTo(5*w.Lease), w.bind)
	}
}

func (w *taskWorld) declare() {
	d := declaredLimits{version: w.rng.IntN(4)}
	d.limits = tasks.Limits{Concurrency: 1 + d.version%3, Rate: rate, KeyLimit: keyLimit}
	if w.chance(0.3) {
		d.limits.Concurrency = 5
	}
	w.rebind(limited, func(x limitsOf) (limitsOf, bool) {
		switch d.rule().Beside(x.declared.rule()) {
		case tasks.Replaced:
			x.declared = &d
			return x, true
		case tasks.Disputed:
			w.Disputed++
		}
		return x, false
	})
}

func (w *taskWorld) override() {
	o := tasks.Limits{Concurrency: 1 + w.rng.IntN(5), KeyLimit: 1 + w.rng.IntN(keyLimit)}
	until := w.store.clock() + w.upTo(10*w.Lease)
	back := w.chance(0.3)
	w.rebind(limited, func(x limitsOf) (limitsOf, bool) {
		switch x.override, x.until = &o, until; {
		case back:
			x.override, x.until = nil, 0
		case until%2 == 0:
			x.until = 0
		}
		return x, true
	})
}

// rebind changes a record over the revision that was read, which may be an old one. The write may
// be lost, and it may come late.
func (w *taskWorld) rebind(at string, change func(limitsOf) (limitsOf, bool)) {
	read := w.store.last[at]
	x, _ := w.store.record(at).(limitsOf)
	x, changed := change(x)
	if !changed {
		return
	}
	w.request(func() (record.Outcome, bool) {
		o, _ := w.store.write(put{at, x, at, read})
		return o, true
	}, func(bool) {})
}

// ignore has a submission name other limits, or none, as a program does that knows nothing of the
// record, or a person.
func (w *taskWorld) ignore(s *submission) {
	if w.Bounded && s.policy.Kind == "limited" && w.chance(0.5) {
		p := *s.policy
		p.Concurrency, p.Rate, p.KeyLimit = 28*w.rng.IntN(2), 0, 9
		s.policy = &p
	}
}

// bound checks a record that was stored over another: the declared version never goes back, what is
// declared under a version stays, and no declaration takes an override back.
func (w *taskWorld) bound(x limitsOf, over any) {
	w.Rebound++
	old, _ := over.(limitsOf)
	if old.declared == nil {
		return
	}
	switch {
	case x.declared == nil || x.declared.version < old.declared.version:
		w.fail("declared version %d was replaced by %+v", old.declared.version, x.declared)
	case x.declared.version == old.declared.version && *x.declared != *old.declared:
		w.fail("version %d is declared as %+v after %+v", x.declared.version, x.declared.limits, old.declared.limits)
	case x.declared != old.declared && x.override != old.override:
		w.fail("the declaration of version %d takes an override back", x.declared.version)
	}
}

// boundBy is a record of limits that a scheduler has read, and when it was stored.
type boundBy struct {
	limitsOf
	at time.Duration
}

// running are the tasks that run: of each kind, of each key, and of both.
type running struct {
	kind, key map[string]int
	both      map[[2]string]int
	bound     map[string]tasks.Attempt // those of the kind whose limits stand in a record
}

func counted(all []tasks.TaskInfo) running {
	n := running{map[string]int{}, map[string]int{}, map[[2]string]int{}, map[string]tasks.Attempt{}}
	for _, g := range all {
		if g.State != tasks.StateRunning || !g.Running {
			continue
		}
		n.kind[g.Kind]++
		if g.Kind == "limited" {
			n.bound[g.ID] = g.Attempt
		}
		if g.Keys != nil && g.Keys.Limit != "" {
			n.key[g.Keys.Limit]++
			n.both[[2]string{g.Kind, g.Keys.Limit}]++
		}
	}
	return n
}

// checkLimits: with what is handed out not more tasks run than the limits say, and not more were
// handed out since the scheduler is ready. Where records change the limits, what runs is looked at
// when it is chosen instead, see watchLimits: a frame may leave much later.
func (l *lead) checkLimits(g *tasks.TaskInfo, p *tasks.Policy, n running) {
	w, bound := l.w, l.boundsOf(p)
	if w.Bounded {
		return
	}
	if bound.Rate > 0 {
		l.chosen(1, bound.Rate)
	}
	if bound.Concurrency > 0 && n.kind[p.Kind] > bound.Concurrency {
		w.fail("%d tasks of kind %s run at once", n.kind[p.Kind], p.Kind)
	}
	if g.Keys != nil && g.Keys.Limit != "" && n.key[g.Keys.Limit] > bound.KeyLimit {
		w.fail("%d tasks of key %s run at once", n.key[g.Keys.Limit], g.Keys.Limit)
	}
}

// chosen checks so many more tasks of the kind with a rate. Nothing was saved up for it before.
func (l *lead) chosen(n int, rate float64) {
	l.model.limited += n
	since := l.w.now - l.model.ready
	if most := rate * since.Seconds(); float64(l.model.limited) > most*1.03+0.01 {
		l.w.fail("%d tasks of the kind with a rate within %v", l.model.limited, since)
	}
}

// watchLimits looks at what runs after each step: no more are chosen of a kind, or of a key, than
// the record says that this scheduler has read. More may run that were chosen, or adopted, before.
func (l *lead) watchLimits(ev tasks.Event, wasReady bool) {
	_, held, _, _ := l.s.Levels()
	grew := held > l.model.held
	if !l.w.Bounded || held == l.model.held {
		return
	}
	l.model.held = held
	all, _ := l.s.List(l.p.instant(), 0, tasks.Filter{}, 1<<20)
	before, n := l.model.running, counted(all)
	l.model.running = n
	if _, tick := ev.(tasks.Tick); !tick || !wasReady || !grew {
		return
	}
	bound := l.boundsOf(&tasks.Policy{Kind: "limited"})
	if bound.Rate > 0 {
		fresh := 0
		for id, a := range n.bound {
			if before.bound[id] != a {
				fresh++
			}
		}
		l.chosen(fresh, bound.Rate)
	}
	if n.kind["limited"] > before.kind["limited"] && bound.Concurrency > 0 {
		if l.w.Bounds++; n.kind["limited"] == bound.Concurrency {
			l.w.Full++
		}
	}
	if k := n.kind["limited"]; bound.Concurrency > 0 && k > bound.Concurrency && k > before.kind["limited"] {
		l.w.fail("%d tasks of kind limited run at once: at most %d", k, bound.Concurrency)
	}
	for of, k := range n.both {
		if of[0] == "limited" && bound.KeyLimit > 0 && k > bound.KeyLimit && k > before.both[of] {
			l.w.fail("%d tasks of key %s run at once: at most %d", k, of[1], bound.KeyLimit)
		}
	}
}

// boundsOf are the most that a scheduler may take for the limits, 0 for any number. About the end
// of an override it may be wrong for a while. Without a record the newest submission counts, which
// tests beside the rules look at.
func (l *lead) boundsOf(p *tasks.Policy) tasks.Limits {
	x := l.model.limits[p.Kind]
	if !l.w.Bounded || p.Kind != "limited" {
		return tasks.Limits{Concurrency: p.Concurrency, Rate: p.Rate, KeyLimit: p.KeyLimit}
	}
	end := stored{at: x.at, clock: x.until}
	switch now, then := x.now(), x.then(); {
	case x.until == 0 || l.oldest(&end) < 0:
		return now
	case l.youngest(&end) > 0:
		return then
	case then == (tasks.Limits{}):
		return then
	default:
		return tasks.Limits{
			Concurrency: max(now.Concurrency, then.Concurrency), Rate: now.Rate, KeyLimit: max(now.KeyLimit, then.KeyLimit),
		}
	}
}

// crowds checks a handler that begins, under any leader: no more run than the limits say, of its
// kind and of its key. Tasks that are cancelled or expire make room when that is decided, and their
// handlers are told later: those are left out. So are those of a later version, of which an earlier
// one does not know kind and key.
func (w *taskWorld) crowds(r *handlerRun) {
	if w.Bounded || r.outlives {
		return
	}
	w.room[r] = true
	mine, _ := w.store.submitted(r.id, r.revision)
	kind, key := 0, 0
	for o := range w.room {
		s, _ := w.store.submitted(o.id, o.revision)
		if s.later || o.mortal || o.outlives || w.asked[life{o.id, o.revision}] {
			continue
		}
		if s.policy.Kind == mine.policy.Kind {
			kind++
		}
		if s.keys != nil && mine.keys != nil && s.keys.Limit == mine.keys.Limit {
			key++
		}
	}
	if most := mine.policy.Concurrency; most > 0 && kind > most {
		w.fail("%d handlers of kind %s run at once", kind, mine.policy.Kind)
	}
	if mine.keys != nil && mine.keys.Limit != "" && key > mine.policy.KeyLimit {
		w.fail("%d handlers of key %s run at once", key, mine.keys.Limit)
	}
}

package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/timings"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// gauges reports, at intervals, how many tasks are open, and the progress that was made.
type gauges struct {
	*term
	emit     func(event.Event)
	progress event.TaskProgress // since the last report; other parts count here
	reported time.Time
	timings  *timings.Book // other parts note here

	measured time.Time // the oldest tasks, and the tenants
	told     time.Time // which of these measurements was reported last
	first    map[string]tasks.Oldest
	tenants  map[string]tasks.Tenants
}

const (
	gaugesEvery = time.Second
	// openBySecond is how many open tasks are looked at for the oldest one and for tenants, in a
	// second on average.
	openBySecond = 10_000
)

func (g *gauges) publish() {
	now := time.Now()
	if now.Sub(g.reported) < gaugesEvery || !g.rules.Ready() {
		return
	}
	g.reported = now
	queued, held, busy, free := g.rules.Levels()
	meta, ns := g.host.Meta(), g.cfg.Namespace
	g.emit(event.TaskGauges{
		Meta: meta, Namespace: ns, Queue: queued, InFlight: held, Oldest: g.oldest(now),
		States: g.states(), Slots: map[string]int{"busy": busy, "free": free},
	})
	if g.progress.Reports > 0 || g.progress.Checkpoints > 0 {
		g.progress.Meta, g.progress.Namespace = meta, ns
		g.emit(g.progress)
		g.progress = event.TaskProgress{}
	}
}

// oldest is by kind how long the oldest task has waited, nil while that is not measured again.
func (g *gauges) oldest(now time.Time) map[string]time.Duration {
	g.measure(now)
	if g.measured.Equal(g.told) {
		return nil
	}
	g.told = g.measured
	all := make(map[string]time.Duration, len(g.first))
	for kind, t := range g.first {
		all[kind] = t.Waiting
	}
	return all
}

// measure does what costs a look at every open task, unless it was done a moment ago.
func (g *gauges) measure(now time.Time) {
	pause := time.Duration(g.rules.Open()) * time.Second / openBySecond
	if now.Sub(g.measured) >= pause {
		g.measured, g.first, g.tenants = now, g.rules.Oldest(g.now()), g.rules.Tenants(control.MaxTenants)
	}
}

// detail adds to an overview what is known of each kind beside its numbers. Of a kind of which no
// task waits the last measurement is old.
func (g *gauges) detail(o *control.Overview, now time.Time) {
	g.measure(now)
	open := map[string]bool{}
	for i := range o.Kinds {
		k := &o.Kinds[i]
		open[k.Kind] = true
		waited, ran := g.timings.Of(now, k.Kind)
		k.Waited, k.Ran = timesOf(waited), timesOf(ran)
		if t, known := g.first[k.Kind]; known && k.Waiting > 0 {
			k.Oldest = &control.Oldest{ID: t.ID, Waiting: t.Waiting + now.Sub(g.measured), Reason: t.Reason}
		}
		if t, known := g.tenants[k.Kind]; known && k.Waiting > 0 {
			k.TenantCount = t.Keys
			for _, c := range t.Top {
				k.Tenants = append(k.Tenants, control.Tenant{Key: c.Key, Waiting: c.Items})
			}
		}
	}
	for _, kind := range g.timings.Kinds(now) {
		if waited, ran := g.timings.Of(now, kind); !open[kind] {
			o.Idle = append(o.Idle, control.IdleKind{Kind: kind, Waited: timesOf(waited), Ran: timesOf(ran)})
		}
	}
}

func timesOf(s timings.Summary) *control.Times {
	if s.Count == 0 {
		return nil
	}
	return &control.Times{P50: s.P50, P99: s.P99, Count: s.Count}
}

// states counts the open tasks by state. Tasks that wait for a retry are among the delayed ones.
func (g *gauges) states() map[string]int {
	pending, delayed, running := 0, 0, 0
	for _, k := range g.rules.Overview().Kinds {
		pending, delayed, running = pending+k.Waiting, delayed+k.Delayed, running+k.Running
	}
	return map[string]int{
		string(tasks.StatePending): pending, string(tasks.StateDelayed): delayed,
		string(tasks.StateRunning): running,
	}
}

// clear reports that the term has no tasks any more.
func (g *gauges) clear() {
	g.emit(event.TaskGauges{Meta: g.host.Meta(), Namespace: g.cfg.Namespace})
	g.emit(event.DeadTasks{Meta: g.host.Meta(), Namespace: g.cfg.Namespace})
}

// awaited reports, at intervals, the workers that everything waits for: without that, a worker that
// lives but cannot be reached would hold up all tasks in silence.
type awaited struct {
	*term
	emit     func(event.Event)
	reported time.Time
	times    int
}

// lateEvery is the interval between two reports that nothing is handed out yet.
const lateEvery = 10 * time.Second

// errAwaited is why nothing is handed out.
var errAwaited = errors.New(
	"nothing is handed out before these workers have said what they hold, or their sessions have ended: " +
		"see whether they may be asked and may answer, or stop them")

func (a *awaited) publish() {
	now := time.Now()
	if a.rules.Ready() || now.Sub(a.reported) < lateEvery {
		return
	}
	const most = 8
	if all := a.rules.Awaited(most); len(all) > 0 {
		a.reported = now
		a.times++
		a.emit(event.Fault{
			Meta: a.host.Meta(), Doing: "begin to hand out tasks",
			Err: fmt.Errorf("%w: %s", errAwaited, strings.Join(all, ", ")), Attempts: a.times,
		})
	}
}

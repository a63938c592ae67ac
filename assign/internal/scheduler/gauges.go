package scheduler

import (
	"time"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// gauges reports, at intervals, how many tasks are open, and the progress that was made.
type gauges struct {
	*term
	emit     func(event.Event)
	progress event.TaskProgress // since the last report; other parts count here
	reported time.Time
}

const gaugesEvery = time.Second

func (g *gauges) publish() {
	now := time.Now()
	if now.Sub(g.reported) < gaugesEvery || !g.rules.Ready() {
		return
	}
	g.reported = now
	queued, held, slots := g.rules.Levels()
	meta, ns := g.host.Meta(), g.cfg.Namespace
	g.emit(event.TaskGauges{
		Meta: meta, Namespace: ns, Queue: queued, InFlight: held,
		States: g.states(), Slots: map[string]int{"busy": held, "free": max(slots-held, 0)},
	})
	if g.progress.Reports > 0 || g.progress.Checkpoints > 0 {
		g.progress.Meta, g.progress.Namespace = meta, ns
		g.emit(g.progress)
		g.progress = event.TaskProgress{}
	}
}

// states counts the open tasks by state. Tasks that wait for a retry are among the delayed ones.
func (g *gauges) states() map[string]int {
	pending, delayed, running := 0, 0, 0
	for _, k := range g.rules.Overview().Kinds {
		pending, delayed, running = pending+k.Waiting, delayed+k.Delayed, running+k.Running
	}
	return map[string]int{string(tasks.StatePending): pending, string(tasks.StateDelayed): delayed, string(tasks.StateRunning): running}
}

// clear reports that the term has no tasks any more.
func (g *gauges) clear() {
	g.emit(event.TaskGauges{Meta: g.host.Meta(), Namespace: g.cfg.Namespace})
}

package assign

import (
	"time"

	"github.com/rolemanager/rolemanager/event"
)

const gaugesEvery = time.Second

// gauges reports the levels, and what was told of progress, now and then.
func (l *scheduling) gauges() {
	now := time.Now()
	if now.Sub(l.told) < gaugesEvery || !l.books.Ready() {
		return
	}
	l.told = now
	queued, held, slots := l.books.Levels()
	meta, ns := l.h.Meta(), l.a.cfg.Namespace
	l.emit(event.TaskGauges{
		Meta: meta, Namespace: ns, Queue: queued, InFlight: held,
		States: l.states(), Slots: map[string]int{"busy": held, "free": max(slots-held, 0)},
	})
	if l.progress.Reports > 0 || l.progress.Checkpoints > 0 {
		l.progress.Meta, l.progress.Namespace = meta, ns
		l.emit(l.progress)
		l.progress = event.TaskProgress{}
	}
}

// states are the open tasks by state. Those that wait for a retry are among the delayed ones.
func (l *scheduling) states() map[string]int {
	pending, delayed, running := 0, 0, 0
	for _, k := range l.books.Overview().Kinds {
		pending, delayed, running = pending+k.Waiting, delayed+k.Delayed, running+k.Running
	}
	return map[string]int{string(StatePending): pending, string(StateDelayed): delayed, string(StateRunning): running}
}

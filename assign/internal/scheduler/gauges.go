package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

const gaugesEvery = time.Second

// gauges reports the levels, and what was told of progress, now and then.
func (l *scheduler) gauges() {
	now := time.Now()
	if now.Sub(l.told) < gaugesEvery || !l.books.Ready() {
		return
	}
	l.told = now
	queued, held, slots := l.books.Levels()
	meta, ns := l.h.Meta(), l.cfg.Namespace
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
func (l *scheduler) states() map[string]int {
	pending, delayed, running := 0, 0, 0
	for _, k := range l.books.Overview().Kinds {
		pending, delayed, running = pending+k.Waiting, delayed+k.Delayed, running+k.Running
	}
	return map[string]int{string(tasks.StatePending): pending, string(tasks.StateDelayed): delayed, string(tasks.StateRunning): running}
}

// lateEvery is how often it is said that nothing is handed out yet.
const lateEvery = 10 * time.Second

// errAwaited says why nothing is handed out.
var errAwaited = errors.New("nothing is handed out before these workers have said what they hold, or their sessions have ended: " +
	"see whether they may be asked and may answer, or stop them")

// late is what was told of that.
type late struct {
	told  time.Time
	times int
}

// tellLate says for whom everything waits, now and then: a worker that lives and cannot be reached would hold it up in silence.
func (l *scheduler) tellLate() {
	now := time.Now()
	if l.books.Ready() || now.Sub(l.late.told) < lateEvery {
		return
	}
	const most = 8
	if all := l.books.Awaited(most); len(all) > 0 {
		l.late.told = now
		l.late.times++
		l.emit(event.Fault{
			Meta: l.h.Meta(), Doing: "begin to hand out tasks", Err: fmt.Errorf("%w: %s", errAwaited, strings.Join(all, ", ")), Attempts: l.late.times,
		})
	}
}

package scheduler

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// carryOut does what the books want, and never waits for it.
func (l *scheduler) carryOut(effect tasks.Effect) {
	switch e := effect.(type) {
	case tasks.WriteSeal:
		l.commits.seal(e)
	case tasks.Reread:
		l.reading.reread()
	case tasks.WriteOutcome:
		if e.Outcome.Status == tasks.StatusDead {
			l.die(e)
		} else {
			l.commits.outcome(e, nil)
		}
	case tasks.WriteNote:
		l.commits.note(e)
	case tasks.WriteCheckpoint:
		l.progress.Checkpoints++
		l.commits.checkpoint(e)
	case tasks.WriteTick:
		l.commits.tick(e)
	case tasks.Erase:
		l.commits.erase(e)
	case tasks.FreeUnique:
		l.commits.free(e)
	case tasks.Push:
		l.push(e)
	case tasks.Sync:
		l.sync(e)
	case tasks.Stop:
		l.stop(e)
	case tasks.Settle:
		l.settle(e)
	case tasks.Fenced:
		l.fenced = fmt.Errorf("%w: its epoch is %d, ours %d", taskerr.ErrFenced, e.By, l.epoch)
	case tasks.Broken:
		l.fenced = fmt.Errorf("%w: %s", taskerr.ErrInconsistent, e.What)
	case tasks.Exhausted:
		l.fenced = taskerr.ErrAttemptsExhausted
	case tasks.Moved:
		l.moved(&e)
	default:
		l.notice(effect)
	}
}

// notice passes on what happened as an event.
func (l *scheduler) notice(effect tasks.Effect) {
	if l.meta.Time.IsZero() { // it is the same for all that happens in one turn of the loop
		l.meta = l.h.Meta()
	}
	meta, ns := l.meta, l.cfg.Namespace
	switch e := effect.(type) {
	case tasks.Ready:
		l.emit(event.TaskRecovered{Meta: meta, Namespace: ns, Open: e.Open, Adopted: e.Adopted, Took: time.Since(l.began)})
	case tasks.Queued:
		l.emit(event.TaskSubmitted{Meta: meta, Namespace: ns, Kind: e.Kind})
	case tasks.Given:
		l.emit(event.TaskAssigned{Meta: meta, Namespace: ns, Kind: e.Kind, Worker: e.Instance, Wait: e.Wait})
	case tasks.Rejected:
		l.emit(event.TaskRejected{Meta: meta, Namespace: ns, Kind: e.Kind, Worker: e.Instance, Reason: e.Verdict.String()})
	case tasks.Completed:
		l.emit(event.TaskCompleted{
			Meta: meta, Namespace: ns, Kind: e.Kind, Outcome: string(e.Outcome.Status), Run: time.Duration(e.Outcome.Ran), Attempts: e.Outcome.Tries,
		})
	case tasks.Reassigned:
		l.emit(event.TaskReassigned{Meta: meta, Namespace: ns, Kind: e.Kind, Cause: e.Cause})
	case tasks.Stale:
		l.emit(event.TaskStale{Meta: meta, Namespace: ns, Kind: e.Kind, Reason: e.Reason})
	case tasks.Ticked:
		l.emit(event.TaskTicked{Meta: meta, Namespace: ns, Recurrence: e.Name, Fired: e.Fired, Dropped: e.Dropped})
	case tasks.Ahead:
		l.emit(event.Fault{Meta: meta, Doing: "fire recurrence " + e.Name, Role: l.cfg.Role, Err: aheadError(&e)})
	case tasks.Refused:
		l.emit(event.TaskFenced{Meta: meta, Namespace: ns, Op: e.Op})
	}
}

// aheadError says that a clock was wrong, or is.
func aheadError(e *tasks.Ahead) error {
	what := "the clock was wrong when it was written, and ticks count from now on"
	if e.Believed {
		what = "this machine's clock has come to it, the server's clock is wrong: set it; until then nothing is fired"
	}
	return fmt.Errorf("assign: its record says %s, and the stream's clock %s: %s", e.Tick.Format(time.RFC3339), e.Now.Format(time.RFC3339), what)
}

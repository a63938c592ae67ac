package scheduler

import (
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/assign/internal/timings"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// notices gives the user's sinks an event for the effects that are only news.
type notices struct {
	*term
	emit    func(event.Event)
	timings *timings.Book
	meta    event.Meta // the same for all events of one turn of the loop; zero before the first one
	told    bool       // somebody is told about events in this turn: else those of each task are not made
}

// turn begins another turn of the loop.
func (n *notices) turn() { n.meta = event.Meta{} }

func (n *notices) notice(effect tasks.Effect) {
	if n.meta.Time.IsZero() {
		n.meta, n.told = n.host.Meta(), n.host.Reports()
	}
	meta, ns := n.meta, n.cfg.Namespace
	switch e := effect.(type) {
	case tasks.Ready:
		n.emit(event.TaskRecovered{Meta: meta, Namespace: ns, Open: e.Open, Adopted: e.Adopted, Took: time.Since(n.began)})
	case tasks.Queued:
		if n.told {
			n.emit(event.TaskSubmitted{Meta: meta, Namespace: ns, Kind: e.Kind})
		}
	case tasks.Assigned:
		n.timings.Waited(meta.Time, e.Kind, e.Wait)
		if n.told {
			n.emit(event.TaskAssigned{Meta: meta, Namespace: ns, Kind: e.Kind, Worker: e.Instance, Wait: e.Wait})
		}
	case tasks.Rejected:
		n.emit(event.TaskRejected{Meta: meta, Namespace: ns, Kind: e.Kind, Worker: e.Instance, Reason: e.Verdict.String()})
	case tasks.Completed:
		if e.Outcome.Ran > 0 {
			n.timings.Ran(meta.Time, e.Kind, time.Duration(e.Outcome.Ran))
		}
		if n.told {
			n.emit(event.TaskCompleted{
				Meta: meta, Namespace: ns, Kind: e.Kind, Outcome: string(e.Outcome.Status), Run: time.Duration(e.Outcome.Ran),
				Attempts: e.Outcome.Tries,
			})
		}
	case tasks.Reassigned:
		n.emit(event.TaskReassigned{Meta: meta, Namespace: ns, Kind: e.Kind, Cause: e.Cause})
	case tasks.Stale:
		n.emit(event.TaskStale{Meta: meta, Namespace: ns, Kind: e.Kind, Reason: e.Reason})
	case tasks.Ticked:
		n.emit(event.TaskTicked{
			Meta: meta, Namespace: ns, Recurrence: e.Name, Fired: e.Fired, Dropped: e.Dropped,
			Skipped: e.Skipped,
		})
	case tasks.Ahead:
		n.emit(event.Fault{Meta: meta, Doing: "fire recurrence " + e.Name, Role: n.cfg.Role, Err: aheadError(&e)})
	case tasks.Unreached:
		n.emit(event.Fault{
			Meta: meta, Doing: "reach worker " + e.Instance, Role: n.cfg.Role, Attempts: e.Times,
			Err: unreachedError(&e, n.work.Assign(e.Instance), n.work.Cancel(e.Instance), n.work.Sync(e.Instance)),
		})
	case tasks.Suspected:
		n.emit(event.Fault{
			Meta: meta, Doing: "run " + suspects(&e), Role: n.cfg.Role, Err: suspectError(&e), Attempts: 1,
		})
	case tasks.Refused:
		n.emit(event.TaskFenced{Meta: meta, Namespace: ns, Op: e.Op})
	}
}

// aheadError says that a clock was wrong, or is wrong now.
func aheadError(e *tasks.Ahead) error {
	what := "the clock was wrong when it was written, and ticks count from now on"
	if e.Trusted {
		what = "this machine's clock has come to it, the server's clock is wrong: set it; until then nothing is fired"
	}
	return fmt.Errorf("assign: its record says %s, and the stream's clock %s: %s", e.Tick.Format(time.RFC3339),
		e.Now.Format(time.RFC3339), what)
}

// suspects names the tasks that are suspected.
func suspects(e *tasks.Suspected) string {
	what := "task "
	if e.N > 1 {
		what = "tasks "
	}
	what += strings.Join(e.IDs, ", ")
	if more := e.N - len(e.IDs); more > 0 {
		what += fmt.Sprintf(" and %d more", more)
	}
	return what
}

// suspectError says why, and what is held against them.
func suspectError(e *tasks.Suspected) error {
	lost := e.Instance
	if lost == "" {
		lost = "its worker"
	}
	held := "none of them is to blame yet"
	if e.N == 1 {
		held = fmt.Sprintf("blame %d of %d, at which it is dead", e.Blame, e.Budget)
	}
	return fmt.Errorf("%w: %s was lost while it ran there (%s)", taskerr.ErrSuspect, lost, held)
}

// unreachedError says which worker messages do not reach, and what to do.
func unreachedError(e *tasks.Unreached, subjects ...string) error {
	err := fmt.Errorf("%w: see that it may subscribe to %s, and that both halves of each account import and leaf node on "+
		"the way let these and its answers through", taskerr.ErrUnreachable, strings.Join(subjects, ", "))
	if e.Held > 0 {
		err = fmt.Errorf("%w; %d of its tasks it may have heard of: they go to others when it is stopped", err, e.Held)
	}
	return err
}

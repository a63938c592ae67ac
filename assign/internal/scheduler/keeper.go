package scheduler

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// keeper makes outcomes stay that open tasks name. It lets them leave after their retention once no
// open task does. The record is read and written again, under the condition that it is still that
// one: so neither a requeue nor a delete is lost. A deposed scheduler may release what a later one
// needs. The later one sees that, and makes it stay again.
type keeper struct {
	*term
	loop
	fail     func(error) // ends the term
	writer   *natskv.Writer
	payloads *payloads
	wishes   map[string]*wish // by task; bounded by the edges of open tasks
	last     uint64
}

// wish is the last that the rules have asked for about one outcome.
type wish struct {
	number uint64
	stay   bool
	after  uint64    // a server that denies the outcome must know this revision
	again  time.Time // when to read once more; zero while it is being read or written
}

// rewritten is the answer to the write for a wish.
type rewritten struct {
	id     string
	number uint64
	status tasks.Status
	result natskv.Result
}

const keepPause = 100 * time.Millisecond

func newKeeper(t *term, l loop, fail func(error), w *natskv.Writer, p *payloads) *keeper {
	return &keeper{term: t, loop: l, fail: fail, writer: w, payloads: p, wishes: map[string]*wish{}}
}

func (k *keeper) keep(e tasks.KeepOutcome) { k.begin(e.ID, &wish{stay: true, after: e.After}) }

func (k *keeper) release(e tasks.ReleaseOutcome) { k.begin(e.ID, &wish{}) }

func (k *keeper) begin(id string, w *wish) {
	k.last++
	w.number = k.last
	k.wishes[id] = w
	k.read(id, w)
}

func (k *keeper) read(id string, w *wish) {
	w.again = time.Time{}
	k.payloads.fetch(want{task: id, keep: w.number, revision: w.after})
}

// fetched handles the record of a task. A record that is not there was searched on a server that
// knows all that the rules had read.
func (k *keeper) fetched(x fetched) {
	w := k.wishes[x.task]
	if w == nil || w.number != x.keep {
		return
	}
	absent := errors.Is(x.err, natskv.ErrRecordNotFound) || x.err == nil && x.entry.Marker
	switch {
	case absent:
		k.done(x.task, w, tasks.Absent{ID: x.task})
	case x.err != nil:
		w.again = time.Now().Add(keepPause)
	case len(x.entry.Header[record.HeaderOutcome]) == 0:
		if _, open := k.rules.TaskInfo(k.now(), x.task); open || !w.stay {
			delete(k.wishes, x.task)
			return
		}
		w.again = time.Now().Add(keepPause) // the stream is about to show it, or that server lags
	default:
		k.change(x.task, w, &x.entry)
	}
}

func (k *keeper) change(id string, w *wish, e *natskv.Entry) {
	status, _ := record.EndedAs(e)
	op, needed := record.Restay(e, w.stay)
	if !needed {
		k.done(id, w, tasks.Kept{ID: id, Status: status})
		return
	}
	number := w.number
	k.writer.Submit(op, writeWithin, func(r natskv.Result) { k.put(rewritten{id, number, status, r}) })
}

func (k *keeper) written(r rewritten) {
	w := k.wishes[r.id]
	if w == nil || w.number != r.number {
		return
	}
	switch {
	case r.result.Outcome == natskv.Won:
		k.done(r.id, w, tasks.Kept{ID: r.id, Status: r.status})
	case r.result.Outcome == natskv.Unknown && stream.Judge(r.result.Err) == stream.Denied:
		k.fail(taskerr.Permission(r.result.Err))
	default: // it was requeued, deleted, or written without an answer: read it again
		w.again = time.Now().Add(keepPause)
	}
}

// done tells the rules what they have asked for.
func (k *keeper) done(id string, w *wish, ev tasks.Event) {
	delete(k.wishes, id)
	if w.stay {
		k.step(ev)
	}
}

// retryDue reads again what could not be settled a while ago. It returns the time until that is due
// again.
func (k *keeper) retryDue(now time.Time) time.Duration { return readAgain(k.wishes, now, k.read) }

func (w *wish) due() time.Time { return w.again }

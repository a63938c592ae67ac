package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	protocolrecord "github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

var outcomes = [...]protocolrecord.Outcome{
	natskv.Unknown: protocolrecord.Unknown, natskv.Won: protocolrecord.Won, natskv.Refused: protocolrecord.Refused,
}

// singleDone handles the answer to a single write.
func (q *writeQueue) singleDone(d singleDone) {
	q.answered(d.w)
	q.finish(d.w, outcomes[d.result.Outcome], d.result.Revision)
}

// singleUnknown handles a single write that may not be stored.
func (q *writeQueue) singleUnknown(d singleUnknown) {
	q.answered(&d.w)
	d.w.alone = false
	q.unknown([]write{d.w}, d.err)
}

// batchDone handles the answer to a batch. The records of a batch have consecutive revisions.
func (q *writeQueue) batchDone(b batchDone) {
	q.flying = false
	if q.ruled {
		q.rule.BatchAnswered(q.now(), stream.FateOf(&b.result), len(q.queue))
	}
	switch {
	case q.ruled && len(b.list) > 1 && b.result.Outcome == natskv.Unknown && b.result.NoneStored &&
		!stream.IsConflict(b.result.Err):
		q.halve(b.list)
		return
	case b.result.Outcome == natskv.Unknown:
		q.unknown(b.list, b.result.Err)
		return
	case b.result.Outcome == natskv.Refused && b.list[0].each && len(b.list) > 1: // one of their conditions does not hold
		q.halve(b.list)
		return
	case b.result.Outcome == natskv.Won:
		q.most = min(max(q.most, 2*len(b.list)), natskv.MaxBatch)
	}
	revision := b.result.Revision
	if revision > 0 {
		revision -= uint64(b.along)
		for i := range b.list {
			revision -= uint64(b.list[i].records())
		}
	}
	for i := range b.list {
		w := &b.list[i]
		if b.result.Revision > 0 {
			revision += uint64(w.records())
		}
		q.finish(w, outcomes[b.result.Outcome], revision)
	}
}

// finish gives the rules and the announcer the outcome of a write.
func (q *writeQueue) finish(w *write, o protocolrecord.Outcome, revision uint64) {
	q.stepWritten(w.number, o, revision)
	q.announcer.answered(w, o == protocolrecord.Won)
}

func (q *writeQueue) stepWritten(number uint64, o protocolrecord.Outcome, revision uint64) {
	q.written = tasks.Written{Write: number, Outcome: o, Revision: revision}
	q.step(&q.written)
}

// unknown handles a single write, or the writes of one batch, that may not be stored.
func (q *writeQueue) unknown(list []write, err error) {
	v := stream.Judge(err)
	q.batched = q.batched || stream.IsConflict(err)
	switch {
	case v == stream.Denied:
		q.fail(taskerr.Permission(err))
	// the rules themselves try a seal again, at growing intervals
	case v == stream.Uncertain, list[0].op.Key == record.SealKey:
		switch {
		case v == stream.NoRoom:
			q.shortage.full(err)
		case v == stream.Never:
			q.shortage.trouble(fmt.Errorf("%w: the seal: %w", taskerr.ErrUnstorable, err))
		case natskv.Permanent(err) && !errors.Is(err, natskv.ErrClosed):
			q.shortage.trouble(fmt.Errorf("assign: %w", err))
		}
		q.lost(list)
	case len(list) > 1:
		q.halve(list)
	case v == stream.NoRoom:
		q.deferFull(&list[0], err)
	case v == stream.Never:
		q.giveUp(&list[0], err)
	default:
		q.lost(list)
	}
}

// lost tells the rules that nothing is known of writes.
func (q *writeQueue) lost(list []write) {
	ends := false
	for i := range list {
		ends = ends || list[i].member.Revision > 0
		q.finish(&list[i], protocolrecord.Unknown, 0)
	}
	if ends {
		q.unsure = list[0].guard
		q.step(tasks.EndsUnknown{})
	}
}

// halve tries a batch again in two halves: the server stores none of its writes because of one of
// them.
func (q *writeQueue) halve(list []write) {
	q.most = len(list) / 2
	for i := range list {
		list[i].halved++
	}
	q.queue = append(slices.Clone(list), q.queue...)
}

// deferFull keeps a write for which the stream has no room. On replicas it keeps all the writes
// that follow, too.
func (q *writeQueue) deferFull(w *write, err error) {
	q.shortage.full(err)
	q.shortage.deferWrite(w.number)
	if q.batched {
		for i := range q.queue {
			q.shortage.deferWrite(q.queue[i].number)
		}
		clear(q.queue)
		q.queue = q.queue[:0]
	}
}

// retryDue tells the rules that the writes that have waited long enough are not stored. It returns
// the time until it is due again.
func (q *writeQueue) retryDue(now time.Time) time.Duration {
	list, wait := q.shortage.due(now)
	for _, number := range list {
		q.stepWritten(number, protocolrecord.Unknown, 0)
	}
	return wait
}

// giveUp handles a write that the server never takes: a lean one is tried instead, if there is one.
func (q *writeQueue) giveUp(w *write, err error) {
	if w.lean != nil {
		again := *w
		again.op, again.lean = *w.lean, nil
		if q.batched || !w.solitary() {
			q.queue = append([]write{again}, q.queue...)
		} else {
			q.submit(again.op, again)
		}
		return
	}
	what, id := recordOf(w.op.Key)
	q.emit(event.Fault{
		Meta: q.host.Meta(), Doing: "store the " + what + " of " + id,
		Err: fmt.Errorf("%w: %d bytes: %w", taskerr.ErrUnstorable, w.size(), err), Attempts: 1,
	})
	if what == "checkpoint" { // for the rest of the term, one of that size is refused at once
		q.largest = min(q.largest, len(w.op.Value)-1)
	}
	text := fmt.Sprintf("the %s of %d bytes cannot be stored: %v", what, w.size(), err)
	q.step(tasks.Unstorable{Write: w.number, Body: &frame.Finding{Data: record.EncodeFailure(text, "")}})
}

// recordOf returns what people call a record, and what the record belongs to.
func recordOf(key string) (what, id string) {
	family, name := key[:min(2, len(key))], key[min(2, len(key)):]
	switch family {
	case record.QueueKey:
		if strings.HasPrefix(name, record.TickPrefix) {
			return "submission or outcome", "task " + name
		}
		return "outcome", "task " + name
	case record.BundleKey, record.EndedKey:
		return "bundle", "task " + name
	case record.NoteKey:
		return "note", "task " + name
	case record.CheckpointKey:
		return "checkpoint", "task " + name
	case record.CancelKey:
		return "request to cancel", "task " + name
	case record.TallyKey:
		return "record of the members", "group of task " + name
	case record.TickKey:
		return "last tick", "recurrence " + name
	case record.UniqueKey:
		return "unique key", name
	}
	return "record", key
}

package scheduler

import (
	"strconv"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// outcome stores the end of a task. A dead task keeps its input if the input can be stored; else it
// ends without.
func (q *writeQueue) outcome(e tasks.WriteOutcome, input *record.Submitted) {
	q.announcer.writing(e.ID, e.Write)
	w := write{number: e.Write, guard: e.Guard, op: outcomeRecord(e, input), member: e.Member}
	if e.Again { // only in the place of the submission that it is the outcome of
		note := guarded(emptied(record.NoteKey+e.ID), e.Guard)
		w.also, w.each = &note, true
	}
	if input != nil && e.Outcome.Status == tasks.StatusDead {
		lean := outcomeRecord(e, nil)
		w.lean = &lean
	}
	q.add(w)
}

func outcomeRecord(e tasks.WriteOutcome, input *record.Submitted) natskv.Write {
	header, data := record.EncodeOutcome(e.Kind, e.Outcome, record.UnpackTrace(e.Tag), input)
	if strings.HasPrefix(e.ID, groups.Prefix) {
		header = append(header, record.SubmissionHeader(e.Revision))
	}
	op := natskv.Write{Key: record.QueueKey + e.ID, Value: data, Header: header, TTL: e.Retention}
	if e.Kept {
		op.TTL, op.Header = 0, append(op.Header, record.KeptHeader(e.Retention))
	}
	if e.Again {
		op.Expect = e.Revision
	}
	return op
}

// guarded returns op with the condition that our seal is the last one.
func guarded(op natskv.Write, seal uint64) natskv.Write {
	op.Guard = &natskv.Guard{Key: record.SealKey, Revision: seal}
	return op
}

// note stores the note of a task, with the history of its attempts, "" for none.
func (q *writeQueue) note(e tasks.WriteNote, history string) {
	value, err := record.EncodeNote(e.Retry)
	if err != nil {
		return // numbers can always be encoded
	}
	op := natskv.Write{Key: record.NoteKey + e.ID, Value: value}
	if history != "" {
		op.Header = []natskv.Field{{Name: record.HeaderHistory, Value: history}}
	}
	q.add(write{number: e.Write, guard: e.Guard, op: op})
}

func (q *writeQueue) checkpoint(e tasks.WriteCheckpoint) {
	attempt := strconv.FormatUint(e.Attempt.Epoch, 10) + "." + strconv.FormatUint(uint64(e.Attempt.N), 10)
	q.add(write{number: e.Write, guard: e.Guard, op: natskv.Write{
		Key: record.CheckpointKey + e.ID, Value: e.Data, Header: []natskv.Field{{Name: record.HeaderAttempt, Value: attempt}},
	}})
}

// tick stores the task of a tick, unless there is a record in its place, and the time of the
// recurrence's last tick, in one step. So no scheduler submits the task twice or leaves it out.
func (q *writeQueue) tick(e tasks.WriteTick) {
	r, known := e.Recurrence.Body.(*record.Recurring)
	value, err := record.EncodeTick(e.Tick)
	if !known || err != nil {
		return // the body is ours, and a time within the years of cron can be encoded
	}
	last := guarded(natskv.Write{Key: record.TickKey + e.Recurrence.Name, Value: value}, e.Guard)
	q.add(write{
		number: e.Write, guard: e.Guard, each: true, also: &last,
		op: natskv.Write{Key: record.QueueKey + e.ID, Value: r.Input, Header: r.Header},
	})
}

// pass stores that a tick is the last one, though it has no task.
func (q *writeQueue) pass(e tasks.WritePass) {
	value, err := record.EncodePass(e.Tick, e.Last)
	if err != nil {
		return // a time within the years of cron can be encoded
	}
	q.add(write{number: e.Write, guard: e.Guard, op: natskv.Write{Key: record.TickKey + e.Name, Value: value}})
}

// tally stores what has become of the members of a group.
func (q *writeQueue) tally(e tasks.WriteTally) {
	value, err := record.EncodeTally(record.Tally{Of: e.Of, Size: e.Size, Closed: e.Closed, Fates: e.Fates})
	if err != nil {
		return // numbers and bytes can always be encoded
	}
	q.add(write{number: e.Write, guard: e.Guard, op: natskv.Write{
		Key: record.TallyKey + e.ID, Value: value, TTL: e.Retention + record.TallyMargin,
	}})
}

// seal writes the seal by compare-and-swap.
func (q *writeQueue) seal(e tasks.WriteSeal) {
	op, err := sealWrite(record.Seal{Version: 1, Epoch: e.Epoch, Holder: q.host.Instance(), Mark: q.mark}, e.Expect)
	if err != nil {
		return // strings and numbers can always be encoded
	}
	q.submit(op, write{number: e.Write, op: op})
}

var recordKeys = [...]string{
	tasks.NoteRecord: record.NoteKey, tasks.CheckpointRecord: record.CheckpointKey, tasks.CancelRecord: record.CancelKey,
	tasks.TickRecord: record.TickKey,
}

// erase removes a record under the seal. It removes a record that others write, too, by
// compare-and-swap: a newer one must stay.
func (q *writeQueue) erase(e tasks.Erase) {
	op := emptied(recordKeys[e.What] + e.ID)
	if e.Expect == 0 {
		q.add(write{number: e.Write, guard: e.Guard, op: op})
		return
	}
	op.Expect = e.Expect
	q.submit(op, write{number: e.Write, op: op})
}

// free empties the record of a unique key by compare-and-swap: clients write it too, and theirs
// must stay.
func (q *writeQueue) free(e tasks.FreeUnique) {
	op := emptied(record.UniqueKey + e.Key)
	op.Expect = e.Expect
	q.submit(op, write{number: e.Write, op: op})
}

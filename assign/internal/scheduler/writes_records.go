package scheduler

import (
	"strconv"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// outcome stores the end of a task. A dead one keeps its input if that can be stored, else it ends without.
func (c *commits) outcome(e tasks.WriteOutcome, input *record.Submitted) {
	c.l.announcer.writes(e.ID, e.Write)
	w := commit{number: e.Write, guard: e.Guard, op: c.outcomeRecord(e, input)}
	if e.Again { // only in the place of the submission that it is the outcome of
		note := c.guarded(erased(record.NoteKey+e.ID), e.Guard)
		w.also, w.each = &note, true
	}
	if input != nil && e.Outcome.Status == tasks.StatusDead {
		lean := c.outcomeRecord(e, nil)
		w.lean = &lean
	}
	c.write(w)
}

func (c *commits) outcomeRecord(e tasks.WriteOutcome, input *record.Submitted) natskv.Write {
	header, data := record.EncodeOutcome(e.Kind, e.Outcome, record.UnpackTrace(e.Tag), input)
	op := natskv.Write{Key: record.QueueKey + e.ID, Value: data, Header: header, TTL: e.Retention}
	if e.Again {
		op.Expect = e.Revision
	}
	return op
}

// guarded is a write with the condition that our seal is the last.
func (c *commits) guarded(op natskv.Write, seal uint64) natskv.Write {
	op.Guard = &natskv.Guard{Key: record.SealKey, Revision: seal}
	return op
}

func (c *commits) note(e tasks.WriteNote) {
	value, err := record.EncodeNote(e.Retry)
	if err != nil {
		return // numbers can always be encoded
	}
	c.write(commit{number: e.Write, guard: e.Guard, op: natskv.Write{Key: record.NoteKey + e.ID, Value: value}})
}

func (c *commits) checkpoint(e tasks.WriteCheckpoint) {
	attempt := strconv.FormatUint(e.Attempt.Epoch, 10) + "." + strconv.FormatUint(uint64(e.Attempt.N), 10)
	c.write(commit{number: e.Write, guard: e.Guard, op: natskv.Write{
		Key: record.CheckpointKey + e.ID, Value: e.Data, Header: []natskv.Field{{Name: record.HeaderAttempt, Value: attempt}},
	}})
}

// tick stores the task of a tick, if there is nothing in its place, and that it was the last one, in one step: so no
// scheduler submits it twice, or leaves it out.
func (c *commits) tick(e tasks.WriteTick) {
	r, known := e.Recurrence.Body.(*record.Recurring)
	value, err := record.EncodeTick(e.Tick)
	if !known || err != nil {
		return // the body is ours, and a time within the years of cron can be encoded
	}
	last := c.guarded(natskv.Write{Key: record.TickKey + e.Recurrence.Name, Value: value}, e.Guard)
	c.write(commit{
		number: e.Write, guard: e.Guard, each: true, also: &last,
		op: natskv.Write{Key: record.QueueKey + e.ID, Value: r.Input, Header: r.Header},
	})
}

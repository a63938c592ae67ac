package assign

import (
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// commits writes what the books want stored, each write under the condition that our seal is the last.
//
// On one server the writes are pipelined, but for those of two records: these go in atomic batches, one at a time. Replicas
// refuse a second write in flight under the same condition: there what comes meanwhile gathers, and all goes in such batches.
type commits struct {
	l       *scheduling
	batched bool
	queue   []commit
	flying  bool
}

// commit is one write of the books.
type commit struct {
	number, guard uint64
	op            natskv.Write
	also          *natskv.Write // stored in the same step, after op
}

func (w *commit) records() int {
	if w.also != nil {
		return 2
	}
	return 1
}

func (w *commit) size() int {
	n := sizeOf(&w.op)
	if w.also != nil {
		n += sizeOf(w.also)
	}
	return n
}

func sizeOf(op *natskv.Write) int {
	n := len(op.Value)
	for _, v := range op.Header {
		n += len(v[0])
	}
	return n
}

// batchDone is the outcome of a batch.
type batchDone struct {
	list   []written
	result natskv.Result
}

// written is a write in a batch; before the end of its last record there are so many others.
type written struct {
	number uint64
	behind uint64
}

const batchSize = 4 << 20 // bytes of values in one batch

var outcomes = [...]protocol.Outcome{
	natskv.Unknown: protocol.Unknown, natskv.Won: protocol.Won, natskv.Refused: protocol.Refused,
}

func (c *commits) write(w commit) {
	if c.batched || w.also != nil {
		c.queue = append(c.queue, w)
		return
	}
	guard := natskv.Guard{Key: sealKey, Revision: w.guard}
	w.op.Guard = &guard
	c.l.writer.Submit(w.op, writeWithin, c.answer(w.number))
}

// answer tells the loop what became of a write.
func (c *commits) answer(number uint64) func(natskv.Result) {
	return func(r natskv.Result) {
		c.l.in.Put(tasks.Written{Write: number, Outcome: outcomes[r.Outcome], Revision: r.Revision})
	}
}

// flush sends what has gathered, as long as nothing is under way. The records of one write stay together.
func (c *commits) flush() {
	if c.flying || len(c.queue) == 0 {
		return
	}
	guard, size, taken := c.queue[0].guard, 0, 0
	var ops []natskv.Write
	var list []written
	for i := range c.queue {
		w := &c.queue[i]
		if w.guard != guard || len(ops)+w.records() > natskv.MaxBatch || size > 0 && size+w.size() > batchSize {
			break
		}
		size += w.size()
		ops = append(ops, w.op)
		if w.also != nil {
			ops = append(ops, *w.also)
		}
		list = append(list, written{w.number, uint64(len(ops))})
		taken++
	}
	for i := range list {
		list[i].behind = uint64(len(ops)) - list[i].behind
	}
	rest := append(c.queue[:0], c.queue[taken:]...)
	clear(c.queue[len(rest):])
	c.queue, c.flying = rest, true
	c.l.writer.SubmitBatch(natskv.Guard{Key: sealKey, Revision: guard}, ops, writeWithin, func(r natskv.Result) {
		c.l.in.Put(batchDone{list, r})
	})
}

// done tells the books what became of a batch. Its records stand one after the other.
func (c *commits) done(b batchDone) {
	c.flying = false
	for _, w := range b.list {
		revision := b.result.Revision
		if revision > 0 {
			revision -= w.behind
		}
		c.l.news.written = tasks.Written{Write: w.number, Outcome: outcomes[b.result.Outcome], Revision: revision}
		c.l.step(&c.l.news.written)
	}
}

func (c *commits) outcome(w tasks.WriteOutcome, input *submitted) {
	header, data := encodeOutcome(w.Kind, w.Outcome, c.l.traces.of(w.ID), input)
	c.write(commit{
		number: w.Write, guard: w.Guard, op: natskv.Write{Key: queueKey + w.ID, Value: data, Header: header, TTL: w.Retention},
	})
}

func (c *commits) note(w tasks.WriteNote) {
	value, err := encodeNote(w.Retry)
	if err != nil {
		return // numbers can always be encoded
	}
	c.write(commit{number: w.Write, guard: w.Guard, op: natskv.Write{Key: noteKey + w.ID, Value: value}})
}

func (c *commits) checkpoint(w tasks.WriteCheckpoint) {
	attempt := strconv.FormatUint(w.Attempt.Epoch, 10) + "." + strconv.FormatUint(uint64(w.Attempt.N), 10)
	c.write(commit{number: w.Write, guard: w.Guard, op: natskv.Write{
		Key: checkpointKey + w.ID, Value: w.Data, Header: nats.Header{headerAttempt: {attempt}},
	}})
}

// tick stores the task of a tick, and that it was the last one, in one step: so no scheduler submits it twice, or leaves it
// out.
func (c *commits) tick(w tasks.WriteTick) {
	r, known := w.Recurrence.Body.(*recurring)
	value, err := encodeTick(w.Tick)
	if !known || err != nil {
		return // the body is ours, and a time within the years of cron can be encoded
	}
	c.write(commit{
		number: w.Write, guard: w.Guard,
		op:   natskv.Write{Key: queueKey + w.ID, Value: r.input, Header: r.header},
		also: &natskv.Write{Key: tickKey + w.Recurrence.Name, Value: value},
	})
}

package assign

import (
	"encoding/json"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// commits writes what the books want stored, each write under the condition that our seal is the last.
//
// On one server the writes are pipelined. Replicas refuse a second write in flight under the same condition: there what
// comes meanwhile gathers, and goes out as one atomic batch.
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
}

// batchDone is the outcome of a batch.
type batchDone struct {
	numbers []uint64
	result  natskv.Result
}

const batchSize = 4 << 20 // bytes of values in one batch

var outcomes = map[natskv.Outcome]protocol.Outcome{
	natskv.Unknown: protocol.Unknown, natskv.Won: protocol.Won, natskv.Refused: protocol.Refused,
}

func (c *commits) write(number, guard uint64, op natskv.Write) {
	if c.batched {
		c.queue = append(c.queue, commit{number, guard, op})
		return
	}
	op.Guard = &natskv.Guard{Key: sealKey, Revision: guard}
	c.l.writer.Submit(op, writeWithin, func(r natskv.Result) {
		c.l.in.Put(tasks.Written{Write: number, Outcome: outcomes[r.Outcome], Revision: r.Revision})
	})
}

// flush sends what has gathered, as long as nothing is under way.
func (c *commits) flush() {
	if !c.batched || c.flying || len(c.queue) == 0 {
		return
	}
	guard, size := c.queue[0].guard, 0
	var ops []natskv.Write
	var numbers []uint64
	for _, w := range c.queue {
		if w.guard != guard || len(ops) == natskv.MaxBatch || size > batchSize {
			break
		}
		size += len(w.op.Value)
		ops, numbers = append(ops, w.op), append(numbers, w.number)
	}
	c.queue = append(c.queue[:0], c.queue[len(ops):]...)
	c.flying = true
	c.l.writer.SubmitBatch(natskv.Guard{Key: sealKey, Revision: guard}, ops, writeWithin, func(r natskv.Result) {
		c.l.in.Put(batchDone{numbers, r})
	})
}

func (c *commits) done(b batchDone) {
	c.flying = false
	for _, n := range b.numbers {
		c.l.step(tasks.Written{Write: n, Outcome: outcomes[b.result.Outcome], Revision: b.result.Revision})
	}
}

// seal writes the seal by compare-and-swap.
func (c *commits) seal(w tasks.WriteSeal) {
	value, err := json.Marshal(sealRecord{Version: 1, Epoch: w.Epoch, Holder: c.l.h.Instance(), Mark: c.l.mark})
	if err != nil {
		return // strings and numbers can always be encoded
	}
	c.l.writer.Submit(natskv.Write{Key: sealKey, Value: value, Expect: w.Expect}, writeWithin, func(r natskv.Result) {
		c.l.in.Put(tasks.Written{Write: w.Write, Outcome: outcomes[r.Outcome], Revision: r.Revision})
	})
}

func (c *commits) outcome(w tasks.WriteOutcome) {
	header, data, err := encodeOutcome(w.Kind, w.Outcome)
	if err != nil {
		return
	}
	c.write(w.Write, w.Guard, natskv.Write{Key: queueKey + w.ID, Value: data, Header: header, TTL: w.Retention})
}

func (c *commits) note(w tasks.WriteNote) {
	value, err := encodeNote(w.Retry)
	if err != nil {
		return
	}
	c.write(w.Write, w.Guard, natskv.Write{Key: noteKey + w.ID, Value: value})
}

// erase removes a note: an empty record in its place, which the server removes after a moment.
func (c *commits) erase(w tasks.Erase) {
	c.write(w.Write, w.Guard, natskv.Write{Key: noteKey + w.ID, TTL: minRetention, Header: nats.Header{}})
}

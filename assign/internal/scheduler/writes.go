package scheduler

import (
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// commits writes what the books want stored, each write under the condition that our seal is the last.
//
// On one server the writes are pipelined, but for those of two records: these go in atomic batches, one at a time. Replicas
// refuse a second write in flight under the same condition: there what comes meanwhile gathers, and all goes in such batches. A
// stream that is given replicas during a term is found out by such a refusal.
//
// A batch is stored as a whole or not at all. When the server does not take one, its halves are tried, and so on, until it is
// known which write is the cause: the others are not to wait for it.
type commits struct {
	l       *scheduler
	batched bool
	queue   []commit
	guard   uint64 // of the last write that was asked for
	most    int    // writes that the next batch may hold; grows again with every one that is stored
	flying  bool
	short   shortage
}

// commit is one write of the books.
type commit struct {
	number, guard uint64
	op            natskv.Write
	also          *natskv.Write // stored in the same step, after op
	lean          *natskv.Write // what would do instead of op, if that is too large
	each          bool          // op and also have conditions of their own
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
		n += len(v.Value)
	}
	return n
}

// written is the outcome of a single write, unstored that of one that is not known to be stored, batchDone that of a batch.
type (
	written struct {
		w      *commit
		result natskv.Result
	}
	batchDone struct {
		list   []commit
		result natskv.Result
	}
	unstored struct {
		w   commit
		err error
	}
)

const batchSize = 4 << 20 // bytes of values in one batch

var outcomes = [...]protocol.Outcome{
	natskv.Unknown: protocol.Unknown, natskv.Won: protocol.Won, natskv.Refused: protocol.Refused,
}

func (c *commits) write(w commit) {
	c.guard = max(c.guard, w.guard)
	if c.batched || w.also != nil {
		c.queue = append(c.queue, w)
		return
	}
	c.swap(w.op, w)
}

// swap writes one record, as op says: under the seal if that has no condition of its own.
func (c *commits) swap(op natskv.Write, w commit) {
	if op.Expect == 0 && w.guard != 0 {
		op.Guard = &natskv.Guard{Key: record.SealKey, Revision: w.guard}
	}
	c.l.writer.Submit(op, writeWithin, func(r natskv.Result) {
		if r.Outcome == natskv.Unknown {
			c.l.in.Put(unstored{w, r.Err})
			return
		}
		c.l.in.Put(written{&w, r})
	})
}

// flush sends what has gathered, as long as nothing is under way. The records of one write stay together.
func (c *commits) flush() {
	if c.flying || len(c.queue) == 0 || c.batched && c.short.waits() {
		return
	}
	size, taken, used := 0, 0, 0
	var ops []natskv.Write
	var list []commit
	for i := range c.queue {
		w := &c.queue[i]
		if w.guard != c.guard { // all that is still wanted was asked for anew under the later seal
			used++
			continue
		}
		if taken > 0 && (w.each != list[0].each || taken >= c.most || len(ops)+w.records() > natskv.MaxBatch || size+w.size() > batchSize) {
			break
		}
		size += w.size()
		ops = append(ops, w.op)
		if w.also != nil {
			ops = append(ops, *w.also)
		}
		list = append(list, *w)
		taken++
		used++
	}
	rest := append(c.queue[:0], c.queue[used:]...)
	clear(c.queue[len(rest):])
	c.queue = rest
	if taken == 0 {
		return
	}
	c.flying = true
	done := func(r natskv.Result) { c.l.in.Put(batchDone{list, r}) }
	if list[0].each {
		c.l.writer.SubmitEach(ops, writeWithin, done)
		return
	}
	c.l.writer.SubmitBatch(natskv.Guard{Key: record.SealKey, Revision: c.guard}, ops, writeWithin, done)
}

// done tells the books what became of a batch. Its records stand one after the other.
func (c *commits) done(b batchDone) {
	c.flying = false
	switch {
	case b.result.Outcome == natskv.Unknown:
		c.fault(b.list, b.result.Err)
		return
	case b.result.Outcome == natskv.Refused && b.list[0].each && len(b.list) > 1: // one of their conditions does not hold
		c.halve(b.list)
		return
	case b.result.Outcome == natskv.Won:
		c.most = min(max(c.most, 2*len(b.list)), natskv.MaxBatch)
	}
	revision := b.result.Revision
	if revision > 0 {
		for i := range b.list {
			revision -= uint64(b.list[i].records())
		}
	}
	for i := range b.list {
		w := &b.list[i]
		if b.result.Revision > 0 {
			revision += uint64(w.records())
		}
		c.over(w, outcomes[b.result.Outcome], revision)
	}
}

// over tells what became of a write to all who are to hear of it.
func (c *commits) over(w *commit, o protocol.Outcome, revision uint64) {
	c.tell(w.number, o, revision)
	c.l.announcer.answered(w, o == protocol.Won)
}

func (c *commits) tell(number uint64, o protocol.Outcome, revision uint64) {
	c.l.news.written = tasks.Written{Write: number, Outcome: o, Revision: revision}
	c.l.step(&c.l.news.written)
}

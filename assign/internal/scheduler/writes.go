package scheduler

import (
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// writeQueue stores what the rules want stored. Each write carries the condition that our seal is
// the last one.
//
// On one server the writes are pipelined. A write of two records goes into an atomic batch, and one
// batch is under way at a time. Replicas refuse a second write in flight under the same condition.
// There, writes gather while a batch is under way, and all of them go into batches. Such a refusal
// also reveals a stream that is given replicas during a term.
//
// A batch is stored as a whole or not at all. If the server does not take a batch, its halves are
// tried, and so on, until the write that is the cause is known: the others must not wait for that
// write.
type writeQueue struct {
	*term
	loop
	fail      func(error) // ends the term
	writer    *natskv.Writer
	announcer *announcer
	shortage  *shortage

	batched bool
	queue   []write
	guard   uint64 // of the last write that was asked for
	most    int    // writes that the next batch may hold; grows again with every batch that is stored
	flying  bool
	largest int // the size of the largest checkpoint that may be stored, in bytes

	written tasks.Written // told thousands of times a second: one that is used again costs no memory
}

func newWriteQueue(t *term, l loop, fail func(error), w *natskv.Writer, a *announcer, s *shortage) *writeQueue {
	return &writeQueue{
		term: t, loop: l, fail: fail, writer: w, announcer: a, shortage: s,
		batched: t.stream.Replicas() > 1, most: natskv.MaxBatch, largest: record.MaxCheckpoint + record.MaxSealing,
	}
}

// singleDone is the outcome of a single write, singleUnknown that of one that may not be stored,
// batchDone that of a batch.
type (
	singleDone struct {
		w      *write
		result natskv.Result
	}
	singleUnknown struct {
		w   write
		err error
	}
	batchDone struct {
		list   []write
		result natskv.Result
	}
)

const (
	batchSize   = 4 << 20 // bytes of values in one batch
	writeWithin = 5 * time.Second
)

func (q *writeQueue) add(w write) {
	q.guard = max(q.guard, w.guard)
	if q.batched || w.also != nil {
		q.queue = append(q.queue, w)
		return
	}
	q.submit(w.op, w)
}

// submit writes the one record op, under the seal if op has no condition of its own.
func (q *writeQueue) submit(op natskv.Write, w write) {
	if op.Expect == 0 && w.guard != 0 {
		op.Guard = &natskv.Guard{Key: record.SealKey, Revision: w.guard}
	}
	q.writer.Submit(op, writeWithin, func(r natskv.Result) {
		if r.Outcome == natskv.Unknown {
			q.put(singleUnknown{w, r.Err})
			return
		}
		q.put(singleDone{&w, r})
	})
}

// flush sends the writes that have gathered, unless a batch is under way. The records of one write
// stay together.
func (q *writeQueue) flush() {
	if q.flying || len(q.queue) == 0 || q.batched && q.shortage.waits() {
		return
	}
	size, taken, used := 0, 0, 0
	var ops []natskv.Write
	var list []write
	for i := range q.queue {
		w := &q.queue[i]
		if w.guard != q.guard { // the rules have asked again, under the later seal, for all that they still want
			used++
			continue
		}
		if taken > 0 && (w.each != list[0].each || taken >= q.most || len(ops)+w.records() > natskv.MaxBatch ||
			size+w.size() > batchSize) {
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
	rest := append(q.queue[:0], q.queue[used:]...)
	clear(q.queue[len(rest):])
	q.queue = rest
	if taken == 0 {
		return
	}
	q.flying = true
	done := func(r natskv.Result) { q.put(batchDone{list, r}) }
	if list[0].each {
		q.writer.SubmitEach(ops, writeWithin, done)
		return
	}
	q.writer.SubmitBatch(natskv.Guard{Key: record.SealKey, Revision: q.guard}, ops, writeWithin, done)
}

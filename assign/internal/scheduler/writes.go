package scheduler

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gather"
)

// writeQueue stores what the rules want stored. Each write carries the condition that our seal is
// the last one.
//
// On one server the writes are pipelined, or gather for batches while that is faster: package
// gather has that rule. A write of two records goes into an atomic batch, and one batch is under
// way at a time. Replicas refuse a second write in flight under the same condition. There, writes
// gather while a batch is under way, and all of them go into batches. Such a refusal also reveals a
// stream that is given replicas during a term.
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
	rule    gather.Gatherer // of the writes of one record, on one server
	ruled   bool            // the batch under way is of that rule
	unsure  uint64          // the last seal under which a batch with members of bundles may be stored, or not
	largest int             // the size of the largest checkpoint that may be stored, in bytes

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
		along  int // records that were stored after those of the list
		result natskv.Result
	}
)

const writeWithin = 5 * time.Second

func (q *writeQueue) add(w write) {
	q.guard = max(q.guard, w.guard)
	if !q.batched && w.solitary() {
		if w.ticket, w.alone = q.rule.Enter(q.now(), w.size()); w.alone {
			q.submit(w.op, w)
			return
		}
	}
	q.queue = append(q.queue, w)
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
	if q.flying || q.batched && q.shortage.waits() {
		return
	}
	q.drop()
	most := q.most
	if !q.batched {
		most = q.gathered()
	}
	if most == 0 || len(q.queue) == 0 {
		return
	}
	list, ops := q.take(most)
	along := q.along(list)
	ops = append(ops, along...)
	if q.flying, q.ruled = true, !q.batched && !list[0].each; q.ruled {
		q.rule.Batch(q.now(), len(list))
	}
	done := func(r natskv.Result) { q.put(batchDone{list, len(along), r}) }
	if list[0].each {
		q.writer.SubmitEach(ops, writeWithin, done)
		return
	}
	q.writer.SubmitBatch(natskv.Guard{Key: record.SealKey, Revision: q.guard}, ops, writeWithin, done)
}

// drop removes the writes of an earlier seal: the rules have asked again, under the later one, for
// all that they still want. Or they are about to ask: where nothing is known of a batch, no other
// one with members goes under the same seal. Of two records beside one bundle, each would lack what
// the other says.
func (q *writeQueue) drop() {
	q.queue = slices.DeleteFunc(q.queue, func(w write) bool {
		return w.guard != q.guard || w.guard == q.unsure && w.member.Revision > 0
	})
}

// take takes the next batch out of the queue: at most so many writes, of one kind.
func (q *writeQueue) take(most int) (list []write, ops []natskv.Write) {
	size, taken, room := 0, 0, min(most, len(q.queue))
	list, ops = make([]write, 0, room), make([]natskv.Write, 0, room)
	of := map[uint64]bool{} // bundles
	for i := range q.queue {
		w := &q.queue[i]
		if w.member.Revision > 0 {
			of[w.member.Revision] = true
		}
		if taken > 0 && (w.each != list[0].each || w.halved != list[0].halved || taken >= most ||
			len(ops)+w.records()+mostBundleRecords*len(of) > natskv.MaxBatch || size+w.size() > gather.MostBytes) {
			break
		}
		size += w.size()
		ops = append(ops, w.op)
		if w.also != nil {
			ops = append(ops, *w.also)
		}
		list = append(list, *w)
		taken++
	}
	rest := append(q.queue[:0], q.queue[taken:]...)
	clear(q.queue[len(rest):])
	q.queue = rest
	return list, ops
}

// along is what is to be stored in one step with the writes of a batch: the records of the bundles
// whose members end.
func (q *writeQueue) along(list []write) (ops []natskv.Write) {
	var members []bundles.Member
	for i := range list {
		if list[i].member.Revision > 0 {
			members = append(members, list[i].member)
		}
	}
	for _, r := range q.rules.Bundles(members) {
		ops = append(ops, bundleRecords(r)...)
	}
	return ops
}

// gathered sends the writes that go alone on one server. It returns how many of the next ones go
// together now.
func (q *writeQueue) gathered() int {
	if len(q.queue) == 0 {
		return 0
	}
	plain := 0
	for i := range q.queue {
		if q.queue[i].solitary() {
			plain++
		}
	}
	switch first := &q.queue[0]; {
	case first.also != nil:
		return q.most
	case !first.solitary():
		if q.rule.Await(q.now(), len(q.queue)) > 0 {
			return 0
		}
		return q.most
	}
	if q.queue[0].halved > gather.Halvings {
		q.sendAlone(plain, func(w *write) bool { return w.halved > gather.Halvings })
		return 0
	}
	n, together := q.rule.Next(q.now(), plain)
	switch {
	case together:
		return min(n, q.most)
	case n == 0:
		return 0
	}
	q.sendAlone(n, func(*write) bool { return true })
	if n < plain { // the others wait for the answers
		return 0
	}
	return q.most
}

// sendAlone sends the first writes of one record, each alone: at most n, and only the chosen ones.
func (q *writeQueue) sendAlone(n int, chosen func(*write) bool) {
	kept := q.queue[:0]
	for i := range q.queue {
		w := &q.queue[i]
		if n == 0 || !w.solitary() || !chosen(w) {
			kept = append(kept, *w)
			continue
		}
		n--
		w.ticket, w.alone = q.rule.Alone(q.now()), true
		q.submit(w.op, *w)
	}
	clear(q.queue[len(kept):])
	q.queue = kept
}

// answered notes the answer to a write that went alone.
func (q *writeQueue) answered(w *write) {
	if w.alone {
		q.rule.Answered(q.now(), w.ticket)
	}
}

// due is when the queue wants to be flushed again, though nothing is answered.
func (q *writeQueue) due() time.Duration {
	if q.flying || q.batched || len(q.queue) == 0 {
		return time.Hour
	}
	if !q.queue[0].solitary() {
		return q.rule.Await(q.now(), len(q.queue))
	}
	if d := q.rule.Due(q.now(), len(q.queue)); d >= 0 {
		return d
	}
	return time.Hour
}

// write is one write that the rules want.
type write struct {
	number, guard uint64
	op            natskv.Write
	also          *natskv.Write  // stored in the same step, after op
	member        bundles.Member // whose outcome op is, zero: of none
	lean          *natskv.Write  // replaces op if the server does not take op because of its size
	each          bool           // op and also have conditions of their own
	alone         bool           // it was sent alone by the rule of those that gather
	ticket        gather.Ticket  // of that
	halved        uint8          // how often the batch that it was in was halved
}

// solitary reports whether the write may go alone: it is one record, and nothing goes along with
// it.
func (w *write) solitary() bool { return w.also == nil && w.member == bundles.Member{} }

func (w *write) records() int {
	if w.also != nil {
		return 2
	}
	return 1
}

func (w *write) size() int {
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

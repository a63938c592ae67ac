package natskv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// MaxBatch is the most writes that one batch may hold (the server's limit).
const MaxBatch = 1000

// Header names of atomic batches (ADR-50 of NATS).
const (
	headerBatch         = "Nats-Batch-Id"
	headerBatchSequence = "Nats-Batch-Sequence"
	headerBatchCommit   = "Nats-Batch-Commit"
)

// SubmitBatch is Submit for several writes, of which all are stored, in this order, or none. Won
// means that all are stored, and Revision is that of the last one. guard is the only condition:
// Expect and Guard of the writes do not count. If one write is too large, the whole batch is lost.
//
// On a store with replicas, no other write with that guard may be in flight.
func (w *Writer) SubmitBatch(guard Guard, ops []Write, timeout time.Duration, done func(Result)) {
	if len(ops) == 1 {
		op := ops[0]
		op.Guard = &guard
		w.Submit(op, timeout, done)
		return
	}
	w.submitAll(ops, timeout, done, func(i int, op Write, at place) (*nats.Msg, error) {
		if i > 0 {
			return op.unconditional(at, "")
		}
		op.Guard = &guard
		return op.message(at, "")
	})
}

// SubmitEach is SubmitBatch with a condition for each write: its own Expect, or Guard. If all
// conditions hold, all writes are stored. Otherwise none is, and Refused means that at least one
// condition did not hold. No two writes may have the same key, and no write may be guarded by a key
// that an earlier one writes.
func (w *Writer) SubmitEach(ops []Write, timeout time.Duration, done func(Result)) {
	if len(ops) == 1 {
		w.Submit(ops[0], timeout, done)
		return
	}
	w.submitAll(ops, timeout, done, func(_ int, op Write, at place) (*nats.Msg, error) { return op.message(at, "") })
}

// message makes the message of a write that is the i-th of a batch.
type message func(i int, op Write, at place) (*nats.Msg, error)

func (w *Writer) submitAll(ops []Write, timeout time.Duration, done func(Result), each message) {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		done(Result{Err: ErrClosed})
		return
	}
	w.last++
	number := w.last
	w.mu.Unlock()
	msgs, err := batch(w.at, ops, w.inbox+strconv.FormatUint(number, 36), each)
	if err != nil {
		done(Result{Err: err})
		return
	}
	last := len(msgs) - 1
	w.enter(&pending{number: number, ahead: msgs[:last], msg: msgs[last], done: done}, timeout)
}

// batch makes the messages. Only the last asks for an answer, in which the server reports what was
// wrong with any of them.
func batch(at place, ops []Write, reply string, each message) ([]*nats.Msg, error) {
	if len(ops) == 0 || len(ops) > MaxBatch {
		return nil, fmt.Errorf("a batch of %d writes: use 1 to %d", len(ops), MaxBatch)
	}
	id := nuid.Next()
	msgs := make([]*nats.Msg, len(ops))
	for i := range ops {
		m, err := each(i, ops[i], at)
		if err != nil {
			return nil, err
		}
		m.Header[headerBatch] = []string{id}
		m.Header[headerBatchSequence] = []string{strconv.Itoa(i + 1)}
		msgs[i] = m
	}
	last := msgs[len(msgs)-1]
	last.Reply, last.Header[headerBatchCommit] = reply, []string{"1"}
	return msgs, nil
}

// refusesBatch are the codes with which a server answers the last message of a batch of which it
// stores nothing: it finds these faults before it begins to store. (A store that fails meanwhile
// may have stored a part, which the server completes when it restarts.)
var refusesBatch = []jetstream.ErrorCode{
	codeWrongLastRevision, codeConflict, codeBatchesOff, codeBatchIncomplete, codeBatchHeader, codeBatchTooLarge,
	codeBatchDuplicate, codeTooManyBatches, codeTooLarge,
}

// BatchesOff reports whether err says that the stream takes no batches.
func BatchesOff(err error) bool { return hasCode(err, codeBatchesOff) }

// outcome reads the server's answer to a write, or to the last message of a batch.
func (p *pending) outcome(at place, data []byte) Result {
	if p.ahead == nil {
		return outcome(at, data)
	}
	return batchOutcome(at, data, len(p.ahead)+1)
}

// batchOutcome reads the server's answer to the last of n messages of a batch. A server that knows
// no batches would take each message for a write of its own, and say nothing of the others.
func batchOutcome(at place, data []byte, n int) Result {
	r := outcome(at, data)
	var ack pubAck
	switch {
	case r.Outcome == Won:
		if json.Unmarshal(data, &ack) != nil || ack.Count != n {
			return Result{Err: fmt.Errorf("not an acknowledgement of a batch of %d: %.200q", n, data)}
		}
	case r.Err != nil:
		refuses := func(code jetstream.ErrorCode) bool { return hasCode(r.Err, code) }
		r.NoneStored = r.Outcome == Refused || slices.ContainsFunc(refusesBatch, refuses)
	}
	return r
}

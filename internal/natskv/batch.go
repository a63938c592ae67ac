package natskv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

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
// Do not change ops after SubmitBatch, not even after done.
//
// On a store with replicas, no other write with that guard may be in flight.
func (w *Writer) SubmitBatch(guard Guard, ops []Write, timeout time.Duration, done func(Result)) {
	if len(ops) == 1 {
		op := ops[0]
		op.Guard = &guard
		w.Submit(op, timeout, done)
		return
	}
	w.submitAll(ops, &guard, timeout, done)
}

// SubmitEach is SubmitBatch with a condition for each write: its own Expect, or Guard. If all
// conditions hold, all writes are stored. Otherwise none is, and Refused means that at least one
// condition did not hold. No two writes may have the same key, and no write may be guarded by a key
// that an earlier one writes. Do not change ops after SubmitEach, not even after done.
func (w *Writer) SubmitEach(ops []Write, timeout time.Duration, done func(Result)) {
	if len(ops) == 1 {
		w.Submit(ops[0], timeout, done)
		return
	}
	w.submitAll(ops, nil, timeout, done)
}

// submitAll submits a batch. guard is its only condition, nil if each write has its own.
func (w *Writer) submitAll(ops []Write, guard *Guard, timeout time.Duration, done func(Result)) {
	if err := checkBatch(ops, guard); err != nil {
		done(Result{Err: err, NoneStored: true})
		return
	}
	w.enter(&pending{ops: ops, op: ops[len(ops)-1], guard: guard, done: done}, timeout)
}

func checkBatch(ops []Write, guard *Guard) error {
	if len(ops) == 0 || len(ops) > MaxBatch {
		return fmt.Errorf("a batch of %d writes: use 1 to %d", len(ops), MaxBatch)
	}
	if guard != nil {
		if err := guard.check(); err != nil {
			return err
		}
	}
	for i := range ops {
		if g := ops[i].Guard; guard == nil && g != nil {
			if err := g.check(); err != nil {
				return err
			}
		}
		if err := checkKey(ops[i].Key); err != nil {
			return err
		}
	}
	return nil
}

// sendBatch publishes the messages of a batch, up to the first that cannot be sent: without the
// last one the server drops the batch. Only the last asks for an answer, in which the server
// reports what was wrong with any of them.
func (w *Writer) sendBatch(l *letter, p *pending, reply string) error {
	id := nuid.Next()
	for i := range p.ops {
		op := &p.ops[i]
		l.begin(op, w.at)
		switch {
		case p.guard == nil:
			l.condition(op, w.at)
		case i == 0:
			l.condition(&Write{Guard: p.guard}, w.at)
		}
		l.set(headerBatch, id)
		l.set(headerBatchSequence, strconv.Itoa(i+1))
		if i == len(p.ops)-1 {
			l.Reply = reply
			l.set(headerBatchCommit, "1")
		}
		if err := w.nc.PublishMsg(&l.Msg); err != nil {
			return unsent(w.nc, l.Subject, err)
		}
	}
	return nil
}

// refusesBatch are the codes with which a server answers the last message of a batch of which it
// stores nothing: it finds these faults before it begins to store. (A store that fails meanwhile
// may have stored a part, which the server completes when it restarts.)
var refusesBatch = []jetstream.ErrorCode{
	codeWrongLastRevision, codeConflict, codeBatchesOff, codeBatchIncomplete, codeBatchHeader, codeBatchTooLarge,
	codeBatchDuplicate, codeTooManyBatches, codeTooLarge,
}

// denied names the permission that is missing if the server has not got the whole batch since it
// denied one of the messages. It has complained before it answers the last one. Another complaint
// may have come in between, and then the next attempt tells.
func (w *Writer) denied(p *pending, r Result) Result {
	if !hasCode(r.Err, codeBatchIncomplete) {
		return r
	}
	last := w.nc.LastError()
	if d := deniedIn(last); d != nil && last != p.known && p.concerns(w.at, d) {
		r.Err = fmt.Errorf("write a batch of %d: %w", len(p.ops), d)
	}
	return r
}

// concerns reports whether the server's complaint is about a message of the batch.
func (p *pending) concerns(at place, d *PermissionError) bool {
	return slices.ContainsFunc(p.ops, func(op Write) bool { return at.reach.Concerns(d, op.subject(at)) })
}

// BatchesOff reports whether err says that the stream takes no batches.
func BatchesOff(err error) bool { return hasCode(err, codeBatchesOff) }

// outcome reads the server's answer to a write, or to the last message of a batch.
func (p *pending) outcome(at place, data []byte) Result {
	if p.ops == nil {
		return outcome(at, data)
	}
	return batchOutcome(at, data, len(p.ops))
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

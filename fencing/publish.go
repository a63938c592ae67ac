package fencing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// verdict is what became of one attempt to publish.
type verdict int

const (
	// unknown: it may be stored now, later, or never.
	unknown verdict = iota
	// stored, and acknowledged.
	stored
	// refused: a condition did not hold. It is not stored and never will be.
	refused
	// unheard: not stored, and worth another attempt.
	unheard
	// hopeless: not stored, and another attempt is useless.
	hopeless
	// failed: the server could not store it (the bucket is full, the disk broken). Another attempt
	// is useless, but a replica may have stored the write.
	failed
)

// Error codes of the JetStream API (nats-server errors.json).
const (
	codeWrongLastSequence = 10071
	// codeConflict: on a replicated stream, another write under the same condition is in flight.
	// The check comes before the write is proposed, and each copy of a message has its own answer.
	// So this copy is not stored.
	codeConflict        = 10164
	codeIncompleteBatch = 10176
	codeTooManyBatches  = 10210
	codeTooManyInFlight = 10211

	codeInsufficient = 10023
	codeNoSpace      = 10047
	codeStoreFailed  = 10077
)

// attempt publishes msg once, or the two messages of a batch as one, and returns the revision of
// the last. It never publishes twice: the conditions were made for this attempt.
func (s *Store) attempt(ctx context.Context, msgs ...*nats.Msg) (revision uint64, v verdict, err error) {
	if err := ctx.Err(); err != nil {
		return 0, unheard, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()

	last := msgs[len(msgs)-1]
	if len(msgs) > 1 {
		id := s.mark() // any text that is unique will do
		for i, m := range msgs {
			m.Header.Set(headerBatch, id)
			m.Header.Set(headerBatchSequence, strconv.Itoa(i+1))
		}
		last.Header.Set(headerBatchCommit, "1")
	}
	before := s.nc.LastError()
	for _, m := range msgs[:len(msgs)-1] {
		if err := s.nc.PublishMsg(m); err != nil {
			return 0, local(err), err
		}
	}
	reply, err := s.nc.RequestMsgWithContext(ctx, last)
	if err != nil {
		return s.silence(msgs, before, err)
	}
	revision, v, err = acknowledged(streamOf(s.bucket), reply.Data)
	s.seen = max(s.seen, revision)
	return revision, v, err
}

// pubAck is the server's answer to a publish.
type pubAck struct {
	Error  *jetstream.APIError `json:"error"`
	Stream string              `json:"stream"`
	Seq    uint64              `json:"seq"`
}

// acknowledged reads the server's answer to a publish into a stream. It returns the revision of a
// stored message, or why the message is not stored, or why that is unknown. The similar function in
// package natskv has fewer verdicts, because its callers wait for the watch.
func acknowledged(stream string, data []byte) (revision uint64, v verdict, err error) {
	var ack pubAck
	if err := json.Unmarshal(data, &ack); err != nil {
		return 0, unknown, fmt.Errorf("decode acknowledgement: %w", err)
	}
	if ack.Error != nil {
		return 0, ofCode(ack.Error), ack.Error
	}
	if ack.Stream != stream || ack.Seq == 0 {
		return 0, unknown, fmt.Errorf("not an acknowledgement of stream %s: %.100q", stream, data)
	}
	return ack.Seq, stored, nil
}

// ofCode sorts the server's own errors. Errors that the client caused (4xx) are raised before
// anything is stored. For the others that is not certain.
func ofCode(e *jetstream.APIError) verdict {
	switch {
	case e.ErrorCode == codeWrongLastSequence:
		return refused
	case e.ErrorCode == codeConflict, e.ErrorCode == codeIncompleteBatch, e.ErrorCode == codeTooManyBatches,
		e.ErrorCode == codeTooManyInFlight:
		return unheard
	case e.ErrorCode == codeStoreFailed, e.ErrorCode == codeNoSpace, e.ErrorCode == codeInsufficient:
		return failed
	case e.Code >= 400 && e.Code < 500:
		return hopeless
	default:
		return unknown
	}
}

// local sorts the errors of a publish that did not leave the client.
func local(err error) verdict {
	switch {
	case errors.Is(err, nats.ErrReconnectBufExceeded), errors.Is(err, nats.ErrNoResponders):
		return unheard
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrBadSubject),
		errors.Is(err, nats.ErrHeadersNotSupported):
		return hopeless
	default:
		return unknown
	}
}

// silence finds out why no answer has come: nobody received the write, or we may not send it.
// Otherwise the outcome is unknown.
func (s *Store) silence(msgs []*nats.Msg, before, err error) (uint64, verdict, error) {
	if v := local(err); v != unknown {
		if errors.Is(err, nats.ErrNoResponders) {
			ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
			defer cancel()
			if _, gone := s.reach.Inspect(ctx, s.nc, s.bucket); natskv.Permanent(gone) &&
				!errors.Is(gone, nats.ErrPermissionViolation) {
				return 0, hopeless, gone
			}
		}
		return 0, v, err
	}
	// A denied permission looks like silence. The server's complaint comes before the answer to a
	// ping sent after it.
	if s.nc.IsConnected() && s.nc.FlushTimeout(min(s.timeout, 250*time.Millisecond)) == nil {
		last := s.nc.LastError()
		if denied := natskv.Denied(last); last != before && denied != nil {
			for _, m := range msgs {
				if s.reach.Concerns(denied, m.Subject) {
					return 0, hopeless, last
				}
			}
		}
	}
	return 0, unknown, err
}

// mark returns a text that no other write has, of this store or of another.
func (s *Store) mark() string {
	s.writes++
	return s.self + "." + strconv.FormatUint(s.writes, 36)
}

// pauses returns the waits between attempts. The first are for a conflict with a write in flight,
// the later ones for an election among the servers.
func pauses() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: 2 * time.Millisecond, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: 250 * time.Millisecond,
	}
}

// pause waits for the next attempt, or returns ctx's error with the error of the last attempt.
func pause(ctx context.Context, b *backoff.ExponentialBackOff, met error) error {
	timer := time.NewTimer(b.NextBackOff())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		if met == nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w (%w)", ctx.Err(), met)
	}
}

package fencing

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Our own headers on every write.
const (
	// headerWrite marks the attempt, so that a read can tell what became of it if its
	// acknowledgement was lost.
	headerWrite = "Fencing-Write"
	// headerOver is the revision that a conditional write has replaced.
	headerOver = "Fencing-Over"
	// headerOperation tells that an entry of a KV bucket is a marker (jetstream.KeyValue).
	headerOperation = "KV-Operation"
	markerDelete    = "DEL"
)

// change is one write of a user.
type change struct {
	op     string
	key    string
	value  []byte
	marker bool

	// conditional says that the key must be at revision expect, 0 for no message at all.
	conditional bool
	expect      uint64
	// absent says that a marker at any revision is accepted too.
	absent bool

	// attempt is the mark of the last attempt. Earlier attempts are known not to have landed.
	attempt string
}

// commit carries out a change. The caller holds the turn.
func (s *Store) commit(ctx context.Context, c *change) (uint64, error) {
	for wait := pauses(); ; {
		if err := s.settle(ctx); err != nil {
			return 0, fmt.Errorf("nothing was written: %w", err)
		}
		began := s.seen
		revision, v, err := s.attempt(ctx, s.messages(c)...)
		switch v {
		case stored:
			return revision, nil
		case hopeless:
			return 0, fmt.Errorf("nothing was written: %w", err)
		case failed:
			s.doubtful = true
			return 0, &UnknownError{Op: c.op, Key: c.key, Err: err}
		case refused:
			if err := s.afterRefusal(ctx, c); err != nil {
				return 0, err
			}
			continue
		case unknown:
			s.doubtful = true
			revision, landed, err := s.resolve(ctx, c, began)
			if landed || err != nil {
				return revision, err
			}
		}
		if err := pause(ctx, wait, err); err != nil {
			return 0, fmt.Errorf("nothing was written: %w", err)
		}
	}
}

// messages returns the messages that perform the change under the present seal. One message has one
// condition. A conditional change needs two conditions, for the seal and for the key. So it is an
// atomic batch: a write to the gate under the seal, and the change.
func (s *Store) messages(c *change) []*nats.Msg {
	m := s.message(c.key, c.value)
	c.attempt = s.mark()
	m.Header.Set(headerWrite, c.attempt)
	if c.marker {
		m.Header.Set(headerOperation, markerDelete)
	}
	if !c.conditional {
		onlyWhile(m, subjectOf(s.bucket, sealKey), s.seal)
		return []*nats.Msg{m}
	}
	m.Header.Set(headerExpect, strconv.FormatUint(c.expect, 10))
	m.Header.Set(headerOver, strconv.FormatUint(c.expect, 10))
	return []*nats.Msg{s.gate(), m}
}

// gate is a write under the seal that changes no key of the user. Once it is stored at a revision,
// the seal was ours at that revision.
func (s *Store) gate() *nats.Msg {
	m := s.message(gateKey, nil)
	onlyWhile(m, subjectOf(s.bucket, sealKey), s.seal)
	return m
}

func (s *Store) message(key string, value []byte) *nats.Msg {
	return &nats.Msg{
		Subject: s.reach.Publish(subjectOf(s.bucket, key)), Data: value,
		Header: nats.Header{headerStream: {streamOf(s.bucket)}},
	}
}

// afterRefusal finds out which condition did not hold, and returns nil if another attempt is
// worthwhile. A plain write has only the condition of the seal. For a conditional write, the gate
// is tried alone: if it is stored, the seal holds, and the key is read as of then.
func (s *Store) afterRefusal(ctx context.Context, c *change) error {
	if !c.conditional {
		return s.adopt(ctx)
	}
	if _, err := s.prove(ctx); err != nil {
		return err
	}
	last, err := s.certain(ctx, c.key)
	if err != nil {
		return fmt.Errorf("nothing was written: %w", err)
	}
	if c.absent {
		if last.Revision != 0 && !last.Deleted {
			return fmt.Errorf("%w at revision %d", jetstream.ErrKeyExists, last.Revision)
		}
		c.expect = last.Revision
		return nil
	}
	if last.Revision != c.expect {
		return fmt.Errorf("%w: it is at %d, not %d", ErrRevision, last.Revision, c.expect)
	}
	return nil
}

// prove stores a gate, and returns its revision.
func (s *Store) prove(ctx context.Context) (uint64, error) {
	for wait := pauses(); ; {
		if err := s.settle(ctx); err != nil {
			return 0, err
		}
		revision, v, err := s.attempt(ctx, s.gate())
		switch v {
		case stored:
			return revision, nil
		case hopeless, failed:
			return 0, err
		case refused:
			if err := s.adopt(ctx); err != nil {
				return 0, err
			}
			continue
		case unknown:
			// A gate that lands late changes nothing, so the seal need not be renewed.
		}
		if err := pause(ctx, wait, err); err != nil {
			return 0, err
		}
	}
}

// resolve finds out what became of an attempt that was not answered. First it renews the seal:
// after that the attempt has landed, or never will. Then it reads the key. began is the highest
// revision that was known before the attempt.
func (s *Store) resolve(ctx context.Context, c *change, began uint64) (revision uint64, landed bool, err error) {
	lost := func(err error) error { return &UnknownError{Op: c.op, Key: c.key, Err: err} }
	if err := s.settle(ctx); err != nil {
		// If a later term has sealed the bucket, we may not write, and so cannot prove that a read
		// is not old. But a read that shows the attempt proves that it has landed.
		if errors.Is(err, ErrStale) {
			if last, errRead := s.read(ctx, c.key); errRead == nil && last.write == c.attempt {
				return last.Revision, true, nil
			}
		}
		return 0, false, lost(err)
	}
	last, err := s.certain(ctx, c.key)
	switch {
	case err != nil:
		return 0, false, lost(err)
	case last.write == c.attempt:
		return last.Revision, true, nil
	case last.Revision <= began: // our attempt would have replaced it
		return 0, false, nil
	// it has replaced the revision that our attempt had to replace
	case c.conditional && last.over == strconv.FormatUint(c.expect, 10):
		return 0, false, nil
	}
	return 0, false, lost(errSuperseded)
}

var errSuperseded = errors.New("another store has written the key meanwhile")

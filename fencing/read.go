package fencing

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Entry is the value of a key at a revision.
type Entry struct {
	Key      string
	Value    []byte
	Revision uint64
	Created  time.Time
	// Deleted says that the entry is a marker: the key was deleted at this revision.
	Deleted bool

	write, over string // the headers of our own, see commit.go
	complete    bool   // see scan.go
}

// Get asks the bucket's server for key. Get is quick and works even if the store is stale, but its
// answer may be old. On a replicated bucket, a server that does not know yet that it was replaced
// may answer. Such an answer may miss acknowledged writes, of earlier terms or our own. Use
// [Store.Latest] if a decision depends on the value. The error is [jetstream.ErrKeyNotFound] for a
// key that does not exist or was deleted.
func (s *Store) Get(ctx context.Context, key string) (Entry, error) {
	if err := checkKey(key); err != nil {
		return Entry{}, err
	}
	kv, err := s.js.KeyValue(ctx, s.bucket)
	if err != nil {
		return Entry{}, fmt.Errorf("get %q: %w", key, err)
	}
	e, err := kv.Get(ctx, key)
	if err != nil {
		return Entry{}, fmt.Errorf("get %q: %w", key, err)
	}
	return Entry{Key: key, Value: e.Value(), Revision: e.Revision(), Created: e.Created()}, nil
}

// Latest reads key as of now: it sees every write that was acknowledged before the call, and the
// store was not stale when the call began. It costs two writes. The error is
// [jetstream.ErrKeyNotFound] for a key that does not exist or was deleted, and *[StaleError] once a
// later term has opened the store.
func (s *Store) Latest(ctx context.Context, key string) (Entry, error) {
	if err := checkKey(key); err != nil {
		return Entry{}, err
	}
	e, err := s.latest(ctx, key)
	if err == nil && (e.Revision == 0 || e.Deleted) {
		err = jetstream.ErrKeyNotFound
	}
	if err != nil {
		return Entry{}, fmt.Errorf("read %q: %w", key, err)
	}
	return e, nil
}

func (s *Store) latest(ctx context.Context, key string) (Entry, error) {
	if err := s.take(ctx); err != nil {
		return Entry{}, err
	}
	defer s.give()
	if _, err := s.prove(ctx); err != nil {
		return Entry{}, err
	}
	return s.certain(ctx, key)
}

// certain reads the present value of key, the zero Entry if there is none. A read alone may be old,
// from a stream leader that was replaced. So a write to the gate is made conditional on the
// revision that was read: if the write is stored, that revision was the key's last. (The write is
// not under the seal, but it changes no key of the user.) The caller holds the turn.
func (s *Store) certain(ctx context.Context, key string) (Entry, error) {
	for wait := pauses(); ; {
		e, err := s.read(ctx, key)
		if lasting(err) {
			return Entry{}, err
		}
		if err == nil {
			m := s.message(gateKey, nil)
			onlyWhile(m, subjectOf(s.bucket, key), e.Revision)
			var v verdict
			switch _, v, err = s.attempt(ctx, m); v {
			case stored:
				return e, nil
			case hopeless, failed:
				return Entry{}, err
			}
		}
		if err := pause(ctx, wait, err); err != nil {
			return Entry{}, err
		}
	}
}

// read reads key, markers too, from the server that takes itself for the stream's leader. It
// returns the zero Entry if the key has no value.
func (s *Store) read(ctx context.Context, key string) (Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	stream, err := s.js.Stream(ctx, streamOf(s.bucket))
	if err != nil {
		return Entry{}, err
	}
	m, err := stream.GetLastMsgForSubject(ctx, subjectOf(s.bucket, key))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return Entry{}, nil
	}
	if err != nil {
		return Entry{}, err
	}
	return newEntry(key, m.Data, m.Header, m.Sequence, m.Time), nil
}

func newEntry(key string, value []byte, h nats.Header, revision uint64, created time.Time) Entry {
	return Entry{
		Key: key, Value: value, Revision: revision, Created: created,
		// A marker that the server itself made (an expiry, a purge) has another header than a
		// marker of KeyValue.
		Deleted: h.Get(headerOperation) != "" || h.Get(jetstream.MarkerReasonHeader) != "",
		write:   h.Get(headerWrite), over: h.Get(headerOver),
	}
}

// Keys returns the keys that exist, sorted. It includes all writes that were acknowledged before
// the call, of earlier terms too. A key that is written again while the list is being made may be
// missing. Keys costs a write and a consumer. Its error is *[StaleError] once a later term has
// opened the store.
func (s *Store) Keys(ctx context.Context) ([]string, error) {
	at, err := s.now(ctx)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	exist := make(map[string]struct{})
	for e, err := range s.scan(ctx, ">", at, true) {
		if err != nil {
			return nil, fmt.Errorf("list keys: %w", err)
		}
		if e.Deleted {
			delete(exist, e.Key)
		} else if !strings.HasPrefix(e.Key, reserved) {
			exist[e.Key] = struct{}{}
		}
		if e.complete {
			break
		}
	}
	keys := make([]string, 0, len(exist))
	for key := range exist {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys, nil
}

// Watch yields the present entries of the keys that match pattern (a key, or one with the wildcards
// * and >). Then it yields an Entry without a key, which says that these are complete, and then
// every change, until ctx ends or the loop is left. Complete means: all writes that were
// acknowledged before the loop began, of earlier terms too. But a key that was written again
// meanwhile may come later. Deletions are entries too. An error is yielded once, at the end; the
// end of ctx is not an error.
//
// If a key is written faster than it is read, Watch may skip values, but never the last one.
// Watching continues after the store has become stale, since it writes nothing. Only the beginning
// of the loop proves that the store was not stale then.
func (s *Store) Watch(ctx context.Context, pattern string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := checkPattern(pattern); err != nil {
			yield(Entry{}, err)
			return
		}
		at, err := s.now(ctx)
		if err != nil {
			yield(Entry{}, fmt.Errorf("watch %q: %w", pattern, err))
			return
		}
		for e, err := range s.scan(ctx, pattern, at, false) {
			if err != nil {
				if ctx.Err() == nil {
					yield(Entry{}, fmt.Errorf("watch %q: %w", pattern, err))
				}
				return
			}
			if !strings.HasPrefix(e.Key, reserved) && !yield(e, nil) {
				return
			}
			if e.complete && !yield(Entry{}, nil) {
				return
			}
		}
	}
}

// now returns a revision that is above every write acknowledged so far.
func (s *Store) now(ctx context.Context) (uint64, error) {
	if err := s.take(ctx); err != nil {
		return 0, err
	}
	defer s.give()
	return s.prove(ctx)
}

package fencing

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// reading is one pass over the stream. It yields the last entry of each matching key, and of seal
// and gate, by increasing revision, and then every later entry.
//
// The consumer acknowledges nothing, so a delivery that is lost on the way (a reconnect, a server's
// restart) is not sent again. The deliveries are therefore counted, and at a gap or any error
// another consumer begins with the last entry of each key. An entry that was yielded is not yielded
// again. A key that is written several times meanwhile is yielded once.
type reading struct {
	store *Store
	cfg   jetstream.ConsumerConfig
	// at is the revision of a seal or gate that has to be seen.
	at uint64
	// complete says that every entry up to revision at was yielded, or the entry that replaced it.
	complete bool
	// had is the last revision yielded of each key, until the reading is complete. last is the last
	// revision of all, from then on.
	had  map[string]uint64
	last uint64
}

// scan yields entries until an error, at the latest the error of ctx. The entry that completes
// everything up to revision at is marked complete.
func (s *Store) scan(ctx context.Context, pattern string, at uint64, headersOnly bool) iter.Seq2[Entry, error] {
	cfg := jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverLastPerSubjectPolicy, AckPolicy: jetstream.AckNonePolicy, HeadersOnly: headersOnly,
		MemoryStorage: true, Replicas: 1, InactiveThreshold: time.Minute,
		FilterSubjects: []string{subjectOf(s.bucket, pattern)},
	}
	for _, own := range []string{sealKey, gateKey} {
		if !matches(pattern, own) { // the server refuses filters that overlap
			cfg.FilterSubjects = append(cfg.FilterSubjects, subjectOf(s.bucket, own))
		}
	}
	return func(yield func(Entry, error) bool) {
		r := reading{store: s, cfg: cfg, at: at, had: make(map[string]uint64)}
		for wait := pauses(); ; {
			before := r.last
			err := r.consume(ctx, func(e Entry) bool { return yield(e, nil) })
			if err == nil {
				return
			}
			if before != r.last {
				wait.Reset()
			}
			if !lasting(err) {
				err = pause(ctx, wait, err)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
		}
	}
}

// errGap says that the connection or the server has lost deliveries.
var errGap = errors.New("deliveries were lost")

// consume reads with one consumer until yield returns false (nil), ctx ends, or a delivery is lost.
func (r *reading) consume(ctx context.Context, yield func(Entry) bool) error {
	s := r.store
	reconnects := s.nc.Stats().Reconnects
	create, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	consumer, err := s.js.CreateConsumer(create, streamOf(s.bucket), r.cfg)
	if err != nil {
		return fmt.Errorf("create consumer: %w", err)
	}
	defer s.drop(consumer)
	messages, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	for delivered := uint64(1); ; delivered++ {
		m, err := r.next(ctx, messages, reconnects)
		if err != nil {
			return err
		}
		meta, err := m.Metadata()
		if err != nil {
			return err
		}
		if meta.Sequence.Consumer != delivered {
			return fmt.Errorf("%w: number %d is missing", errGap, delivered)
		}
		key := strings.TrimPrefix(m.Subject(), subjectOf(s.bucket, ""))
		e := newEntry(key, m.Data(), m.Headers(), meta.Sequence.Stream, meta.Timestamp)
		fresh := r.fresh(e)
		// Reaching revision at is not enough. Before an earlier entry was delivered, an entry after
		// at may have replaced it. So the entries that wait at that moment are delivered first.
		// That does not cover a key that is being written at this very moment: the server stops
		// counting the old entry a little before it counts the new one.
		if !r.complete && e.Revision >= r.at && meta.NumPending == 0 {
			r.complete, r.had, e.complete = true, nil, true
		}
		if (fresh || e.complete) && !yield(e) {
			return nil
		}
	}
}

// fresh reports whether e is to be yielded, and remembers it. A second consumer may be on a replica
// that lags behind the replica of the first: older entries are not yielded again.
func (r *reading) fresh(e Entry) bool {
	fresh := e.Revision > r.last
	if !r.complete {
		fresh = e.Revision > r.had[e.Key]
		r.had[e.Key] = max(r.had[e.Key], e.Revision)
	}
	r.last = max(r.last, e.Revision)
	return fresh
}

// next waits for a message. From time to time it checks whether the client has reconnected: a
// delivery may then be lost without a later delivery that shows the gap. An incomplete reading that
// gets no message begins again as well: the last entry that it waits for was removed before it
// could be delivered.
func (r *reading) next(ctx context.Context, messages jetstream.MessagesContext,
	reconnects uint64,
) (jetstream.Msg, error) {
	for {
		look, cancel := context.WithTimeout(ctx, r.store.timeout)
		m, err := messages.Next(jetstream.NextContext(look))
		cancel()
		switch {
		case err == nil:
			return m, nil
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, context.DeadlineExceeded):
			return nil, err
		case r.store.nc.Stats().Reconnects != reconnects:
			return nil, fmt.Errorf("%w: the client has reconnected", errGap)
		case !r.complete:
			return nil, fmt.Errorf("%w: nothing was heard for %v", errGap, r.store.timeout)
		}
	}
}

// drop removes the consumer from the server. Without it, the server removes the consumer after a
// minute.
func (s *Store) drop(c jetstream.Consumer) {
	if !s.nc.IsConnected() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.timeout)
	defer cancel()
	_ = s.js.DeleteConsumer(ctx, streamOf(s.bucket), c.CachedInfo().Name)
}

// lasting reports whether another attempt would end with err again.
func lasting(err error) bool {
	return natskv.Permanent(err) || errors.Is(err, jetstream.ErrStreamNotFound) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabled) ||
		errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
}

// checkPattern accepts a key in which whole parts may be *, and the last part >.
func checkPattern(pattern string) error {
	parts := strings.Split(pattern, ".")
	for i, part := range parts {
		if part == "*" || part == ">" && i == len(parts)-1 {
			parts[i] = "x"
		}
	}
	if checkKey(strings.Join(parts, ".")) != nil || strings.HasPrefix(pattern, reserved) {
		return fmt.Errorf("%w pattern %q", ErrKey, pattern)
	}
	return nil
}

// matches reports whether key matches pattern, as the server sees it.
func matches(pattern, key string) bool {
	want, have := strings.Split(pattern, "."), strings.Split(key, ".")
	for i, part := range want {
		switch {
		case part == ">":
			return len(have) > i
		case i >= len(have) || part != "*" && part != have[i]:
			return false
		}
	}
	return len(want) == len(have)
}

package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Scan describes which records to read.
type Scan struct {
	Filter string // a key with wildcards
	// From is the lowest revision.
	From uint64
	// Limit is the most records to read, 1 to 1,000.
	Limit int
	// HeadersOnly leaves the values out.
	HeadersOnly bool
}

// maxScan is the largest Limit. It bounds the records that one scan holds in memory, and those that
// are lost with the connection.
const maxScan = 1000

// scanForgotten is how long the server keeps the consumer of an interrupted scan.
const scanForgotten = 10 * time.Second

// Scan reads records in the order of their revisions, as one server knows them, and reports whether
// there are more. The next scan then continues after the last revision. Scan leaves nothing on the
// server, except for a moment. A record that is replaced between two scans is found at its new
// position, which is later.
//
// Errors: those of Watch, and one for a loss on the way.
func (s *Stream) Scan(ctx context.Context, nc *nats.Conn, what Scan) (entries []Entry, more bool, err error) {
	if what.Limit < 1 || what.Limit > maxScan {
		return nil, false, fmt.Errorf("scan %s: %d records: use 1 to %d", s.at, what.Limit, maxScan)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	if err := s.known(ctx, nc); err != nil {
		return nil, false, fmt.Errorf("scan %s: %w", s.at, err)
	}
	name := nuid.Next()
	pending, err := s.pullConsumer(ctx, nc, name, what)
	if err != nil {
		return nil, false, fmt.Errorf("scan %s: %w", s.at, err)
	}
	// the server also removes it by itself
	defer func() { _ = nc.Publish(s.at.api("CONSUMER.DELETE")+"."+name, nil) }()
	if pending == 0 {
		return nil, false, nil
	}
	n := min(uint64(what.Limit), pending)
	if entries, more, err = s.pull(ctx, nc, portion{consumer: name, most: n}); err != nil {
		return nil, false, fmt.Errorf("scan %s: %w", s.at, err)
	}
	return entries, more, nil
}

// pullConsumer creates a consumer that delivers on request, and returns how many records there are.
func (s *Stream) pullConsumer(ctx context.Context, nc *nats.Conn, name string, what Scan) (pending uint64, err error) {
	cfg := jetstream.ConsumerConfig{
		Name: name, FilterSubject: s.at.prefix + what.Filter, HeadersOnly: what.HeadersOnly,
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(what.From, 1),
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: scanForgotten, MemoryStorage: true, Replicas: 1,
	}
	var a consumerAnswer
	subject := s.at.api("CONSUMER.CREATE") + "." + name + "." + cfg.FilterSubject
	if err := request(ctx, nc, s.at, subject, consumerRequest{Stream: s.at.stream, Config: cfg, Action: "create"},
		&a); err != nil {
		return 0, fmt.Errorf("create consumer: %w", err)
	}
	return a.NumPending, nil
}

// portion is what is asked of a consumer.
type portion struct {
	consumer string
	after    uint64 // the number of the last record that the consumer has delivered
	most     uint64 // records
	bytes    int    // 0: no bound
}

// pull asks a consumer for records.
func (s *Stream) pull(ctx context.Context, nc *nats.Conn, p portion) (entries []Entry, more bool, err error) {
	name, n, inbox := p.consumer, p.most, nc.NewInbox()
	// SubscribeSync will not do: it takes an empty record that was stored with the header Status
	// for a message of the server.
	records := make(chan *nats.Msg, n+1)
	sub, err := nc.ChanSubscribe(inbox, records)
	if err != nil {
		return nil, false, fmt.Errorf("subscribe: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only when the connection is closed
	open, end := context.WithCancel(ctx)     // ends with the subscription, whose end the channel does not report
	defer end()
	sub.SetClosedHandler(func(string) { end() })
	want := map[string]any{"batch": n, "no_wait": true}
	if p.bytes > 0 {
		want["max_bytes"] = p.bytes
	}
	ask, err := json.Marshal(want)
	if err != nil {
		return nil, false, err
	}
	if err := nc.PublishRequest(s.at.api("CONSUMER.MSG.NEXT")+"."+name, inbox, ask); err != nil {
		return nil, false, fmt.Errorf("ask for records: %w", lost(nc, err))
	}
	for uint64(len(entries)) < n {
		var m *nats.Msg
		select {
		case m = <-records:
		case <-open.Done():
			err := ctx.Err()
			if err == nil {
				err = lost(nc, nats.ErrConnectionClosed)
			}
			return nil, false, fmt.Errorf("no record: %w", err)
		}
		if isControl(s.at.prefix, m) {
			if err := p.ended(m); err != nil {
				return nil, false, err
			}
			return entries, false, nil
		}
		e, number, after, err := entry(s.at.prefix, m)
		if err != nil {
			return nil, false, err
		}
		if last := p.after + uint64(len(entries)); number != last+1 {
			return nil, false, fmt.Errorf("%w: record %d follows %d", ErrWatchLost, number, last)
		}
		entries = append(entries, e)
		if more = after > 0; !more {
			break
		}
	}
	return entries, more, nil
}

// ended is nil when the server says that it has no more records for this portion: some have been
// replaced meanwhile, or there are enough bytes. Anything else that it says ends the reading.
func (p portion) ended(m *nats.Msg) error {
	status, why := m.Header.Get("Status"), m.Header.Get("Description")
	switch {
	case IsNoResponders(m):
		return errors.New("the consumer is gone")
	case status == "404", status == "408":
		return nil
	case p.bytes > 0 && status == "409" && why == "Message Size Exceeds MaxBytes":
		return nil
	}
	return fmt.Errorf("the server has ended it: %.100q", status+" "+why)
}

// Last is the last revision that a server has stored.
func (s *Stream) Last(ctx context.Context, nc *nats.Conn) (uint64, error) {
	var a streamAnswer
	if err := request(ctx, nc, s.at, s.at.api("STREAM.INFO"), nil, &a); err != nil {
		return 0, fmt.Errorf("look for the last record of %s: %w", s.at, err)
	}
	if found := a.identity(); !s.identity.Same(found) {
		return 0, &OtherBucketError{Stream: s.at.stream, Opened: s.identity, Found: found}
	}
	return a.State.LastSeq, nil
}

// Absent reports whether a server that has stored revision after, or a later one, knows no record
// of a key. A server that lags may answer Get. Absent, in contrast, proves that a record which had
// that revision is gone.
func (s *Stream) Absent(ctx context.Context, nc *nats.Conn, key string, after uint64) (bool, error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	subject := s.at.api("STREAM.INFO")
	var a streamAnswer
	if err := request(ctx, nc, s.at, subject, map[string]any{"subjects_filter": s.at.prefix + key}, &a); err != nil {
		return false, fmt.Errorf("look for %s: %w", key, err)
	}
	if found := a.identity(); !s.identity.Same(found) {
		return false, &OtherBucketError{Stream: s.at.stream, Opened: s.identity, Found: found}
	}
	return a.State.LastSeq >= after && a.State.Subjects[s.at.prefix+key] == 0, nil
}

// KeyPage is the most keys that the server names in one answer.
const KeyPage = 100_000

// Keys returns the keys that a server knows, sorted, without the first so many that it names; at
// most KeyPage. In a cluster the server may lag. It asks STREAM.INFO, and reads no record. Errors:
// OtherBucketError, PermissionError, and those of the connection.
func (s *Stream) Keys(ctx context.Context, nc *nats.Conn, skip int) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	var a streamAnswer
	ask := map[string]any{"subjects_filter": s.at.prefix + ">", "offset": skip}
	if err := request(ctx, nc, s.at, s.at.api("STREAM.INFO"), ask, &a); err != nil {
		return nil, fmt.Errorf("list the keys of %s: %w", s.at, err)
	}
	if found := a.identity(); !s.identity.Same(found) {
		return nil, &OtherBucketError{Stream: s.at.stream, Opened: s.identity, Found: found}
	}
	keys := make([]string, 0, len(a.State.Subjects))
	for subject := range a.State.Subjects {
		keys = append(keys, strings.TrimPrefix(subject, s.at.prefix))
	}
	slices.Sort(keys)
	return keys, nil
}

package natskv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"
)

// Scan says which records to read.
type Scan struct {
	Filter string // a key with wildcards
	// From is the lowest revision.
	From uint64
	// Limit is how many records to read at most, 1 to 1,000.
	Limit int
	// HeadersOnly leaves the values out.
	HeadersOnly bool
}

// maxScan is the largest Limit: it bounds what one scan holds in memory, and what is lost with the connection.
const maxScan = 1000

// scanForgotten is how long the server keeps the consumer of a scan that was broken off.
const scanForgotten = 10 * time.Second

// Scan reads records in the order of their revisions, as one server knows them, and reports whether there were more: then the
// next scan goes on behind the last revision. It leaves nothing on the server but for a moment. A record that is replaced
// between two scans is found at its new place, which is behind.
//
// Errors: those of Watch, and that something was lost on the way.
func (s *Stream) Scan(ctx context.Context, nc *nats.Conn, what Scan) (entries []Entry, more bool, err error) {
	if what.Limit < 1 || what.Limit > maxScan {
		return nil, false, fmt.Errorf("scan %s: %d records: use 1 to %d", s.at, what.Limit, maxScan)
	}
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	name := nuid.Next()
	pending, err := s.pullConsumer(ctx, nc, name, what)
	if err != nil {
		return nil, false, fmt.Errorf("scan %s: %w", s.at, err)
	}
	defer func() { _ = nc.Publish("$JS.API.CONSUMER.DELETE."+s.at.stream+"."+name, nil) }() // or it goes by itself
	if pending == 0 {
		return nil, false, nil
	}
	if entries, more, err = s.pull(ctx, nc, name, min(uint64(what.Limit), pending)); err != nil {
		return nil, false, fmt.Errorf("scan %s: %w", s.at, err)
	}
	return entries, more, nil
}

// pullConsumer makes a consumer that delivers when it is asked to, and says how many records there are.
func (s *Stream) pullConsumer(ctx context.Context, nc *nats.Conn, name string, what Scan) (pending uint64, err error) {
	cfg := jetstream.ConsumerConfig{
		Name: name, FilterSubject: s.at.prefix + what.Filter, HeadersOnly: what.HeadersOnly,
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: max(what.From, 1),
		AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: scanForgotten, MemoryStorage: true, Replicas: 1,
	}
	var a consumerAnswer
	subject := "$JS.API.CONSUMER.CREATE." + s.at.stream + "." + name + "." + cfg.FilterSubject
	if err := request(ctx, nc, s.at, subject, consumerRequest{Stream: s.at.stream, Config: cfg, Action: "create"}, &a); err != nil {
		return 0, fmt.Errorf("create consumer: %w", err)
	}
	return a.NumPending, nil
}

// pull asks the consumer for n records.
func (s *Stream) pull(ctx context.Context, nc *nats.Conn, name string, n uint64) (entries []Entry, more bool, err error) {
	inbox := nc.NewInbox()
	// Not SubscribeSync, which takes an empty record that was stored with the header Status for the server's word.
	records := make(chan *nats.Msg, n+1)
	sub, err := nc.ChanSubscribe(inbox, records)
	if err != nil {
		return nil, false, fmt.Errorf("subscribe: %w", err)
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only when the connection is closed
	open, end := context.WithCancel(ctx)     // ends with the subscription, of which the channel does not tell
	defer end()
	sub.SetClosedHandler(func(string) { end() })
	ask, err := json.Marshal(map[string]any{"batch": n, "no_wait": true})
	if err != nil {
		return nil, false, err
	}
	if err := nc.PublishRequest("$JS.API.CONSUMER.MSG.NEXT."+s.at.stream+"."+name, inbox, ask); err != nil {
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
		if isControl(s.at.prefix, m) { // there are fewer than there were: some have been replaced meanwhile
			if IsNoResponders(m) {
				return nil, false, errors.New("the consumer is gone")
			}
			return entries, false, nil
		}
		e, number, after, err := entry(s.at.prefix, m)
		if err != nil {
			return nil, false, err
		}
		if number != uint64(len(entries))+1 {
			return nil, false, fmt.Errorf("%w: record %d follows %d", ErrWatchLost, number, len(entries))
		}
		entries = append(entries, e)
		if more = after > 0; !more {
			break
		}
	}
	return entries, more, nil
}

// Absent reports whether a server that has stored revision after, or more, knows no record of a key. Unlike Get, which may be
// answered by a server that lags, it proves that a record that stood at that revision is gone.
func (s *Stream) Absent(ctx context.Context, nc *nats.Conn, key string, after uint64) (bool, error) {
	if err := checkKey(key); err != nil {
		return false, err
	}
	subject := "$JS.API.STREAM.INFO." + s.at.stream
	var a streamAnswer
	if err := request(ctx, nc, s.at, subject, map[string]any{"subjects_filter": s.at.prefix + key}, &a); err != nil {
		return false, fmt.Errorf("look for %s: %w", key, err)
	}
	return a.State.LastSeq >= after && a.State.Subjects[s.at.prefix+key] == 0, nil
}

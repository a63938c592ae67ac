package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// ledger is the records of a bucket as they stand, with what an observer has no use for: when the server stored them, the
// tokens, and why one cannot be read. It follows the bucket until it is closed.
type ledger struct {
	bucket *natskv.Bucket
	nc     *nats.Conn
	cancel context.CancelFunc
	wg     sync.WaitGroup
	// wrote, when set, is told of every record from the snapshot on, from the ledger's own goroutine.
	wrote func(record)

	mu      sync.Mutex
	records map[string]record
	steps   []clockStep
	last    record        // the newest of all
	ahead   time.Duration // the server's clock less ours
}

// record is one of them.
type record struct {
	protocol.Entry
	Key  string
	Time time.Time // by the clock of the stream's leader
}

// clockStep is a record that the server's clock says is older than the one before it.
type clockStep struct {
	Key  string
	Back time.Duration
}

// maxSteps bounds what is remembered of a clock that goes mad.
const maxSteps = 16

// openLedger returns when the whole bucket was read. ctx bounds that only.
func openLedger(ctx context.Context, nc *nats.Conn, bucket string, workers bool, wrote func(record)) (*ledger, error) {
	b, err := natskv.Open(ctx, nc, bucket)
	if err != nil {
		return nil, err
	}
	l := &ledger{bucket: b, nc: nc, wrote: wrote, records: map[string]record{}}
	if l.ahead, err = clockAhead(ctx, nc, b.Stream()); err != nil {
		return nil, err
	}
	filters := protocol.CandidateFilters()
	if workers {
		filters = append(filters, "worker.>")
	}
	alive, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	complete := make(chan error, 1) // one answer, and nobody may wait for it any more
	l.wg.Go(func() { l.follow(alive, ctx, filters, complete) })
	select {
	case err = <-complete:
	case <-ctx.Done():
		err = fmt.Errorf("read bucket %s: %w", bucket, ctx.Err())
	}
	if err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// clockAhead asks the server what time it is there.
func clockAhead(ctx context.Context, nc *nats.Conn, stream string) (time.Duration, error) {
	js, err := jetstream.New(nc)
	if err != nil {
		return 0, err
	}
	sent := time.Now()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("ask for stream %s: %w", stream, err)
	}
	middle := sent.Add(time.Since(sent) / 2)
	return s.CachedInfo().TimeStamp.Sub(middle), nil
}

// follow keeps a watch going. The first one that fails before its snapshot is the answer to whoever opened the ledger.
func (l *ledger) follow(alive, opening context.Context, filters []string, complete chan<- error) {
	ctx, first := opening, true
	for alive.Err() == nil {
		err := l.once(alive, ctx, filters, func() {
			if first {
				complete <- nil
				first = false
			}
		})
		if first {
			complete <- err
			return
		}
		select { // what the observer beside it reports is why there is no watch
		case <-time.After(time.Second):
		case <-alive.Done():
		}
		ctx = alive
	}
}

func (l *ledger) once(alive, opening context.Context, filters []string, complete func()) error {
	w, err := l.bucket.Watch(opening, l.nc, filters)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		select {
		case u, ok := <-w.C():
			if !ok {
				return w.Err()
			}
			for _, e := range u.Entries {
				l.take(e)
			}
			if u.Snapshot {
				complete()
			}
		case <-alive.Done():
			return nil
		}
	}
}

func (l *ledger) take(e natskv.Entry) {
	r := record{protocol.Decode(e.Key, e.Value, e.Revision, e.Marker, l.bucket.MaxTTL()), e.Key, e.Time}
	l.mu.Lock()
	known := l.records[e.Key].Revision >= e.Revision
	if !known {
		l.records[e.Key] = r
	}
	if e.Revision > l.last.Revision {
		if back := l.last.Time.Sub(e.Time); back > 0 && len(l.steps) < maxSteps {
			l.steps = append(l.steps, clockStep{e.Key, back})
		}
		l.last = r
	}
	l.mu.Unlock()
	if !known && l.wrote != nil {
		l.wrote(r)
	}
}

// record returns what stands at a key.
func (l *ledger) record(key string) (record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.records[key]
	return r, ok
}

// all returns every record.
func (l *ledger) all() []record {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]record, 0, len(l.records))
	for _, r := range l.records {
		all = append(all, r)
	}
	return all
}

// age is how long ago the server stored a record, as its clock has it.
func (l *ledger) age(r record) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(time.Now().Add(l.ahead).Sub(r.Time), 0)
}

// Close ends the ledger and waits for it.
func (l *ledger) Close() {
	l.cancel()
	l.wg.Wait()
}

package inventory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// Records is the records of a bucket as they stand, with what an observer has no use for: when the server stored them, the
// tokens, and why one cannot be read. It follows the bucket until it is closed.
type Records struct {
	bucket *natskv.Bucket
	nc     *nats.Conn
	cancel context.CancelFunc
	wg     sync.WaitGroup
	// onRecord, when set, is told of every record from the snapshot on, from the goroutine of Records.
	onRecord func(Record)

	mu      sync.Mutex
	records map[string]Record
	steps   []ClockStep
	last    Record        // the newest of all
	ahead   time.Duration // the server's clock less ours
}

// Record is one of them.
type Record struct {
	protocol.Entry
	Key  string
	Time time.Time // by the clock of the stream's leader
}

// OpenRecords returns when the whole bucket was read. ctx bounds that only.
func OpenRecords(ctx context.Context, nc *nats.Conn, bucket string, workers bool, wrote func(Record)) (*Records, error) {
	b, err := natskv.Open(ctx, nc, bucket)
	if err != nil {
		return nil, err
	}
	l := &Records{bucket: b, nc: nc, onRecord: wrote, records: map[string]Record{}}
	if l.ahead, err = ClockAhead(ctx, nc, b.Stream()); err != nil {
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

// follow keeps a watch going. The first one that fails before its snapshot is the answer to OpenRecords.
func (l *Records) follow(alive, opening context.Context, filters []string, complete chan<- error) {
	ctx, first := opening, true
	for alive.Err() == nil {
		err := l.watchOnce(alive, ctx, filters, func() {
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

func (l *Records) watchOnce(alive, opening context.Context, filters []string, complete func()) error {
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
				l.apply(e)
			}
			if u.Snapshot {
				complete()
			}
		case <-alive.Done():
			return nil
		}
	}
}

func (l *Records) apply(e natskv.Entry) {
	r := Record{protocol.Decode(e.Key, e.Value, e.Revision, e.Marker, l.bucket.MaxTTL()), e.Key, e.Time}
	l.mu.Lock()
	known := l.records[e.Key].Revision >= e.Revision
	if !known {
		l.records[e.Key] = r
	}
	if e.Revision > l.last.Revision {
		if back := l.last.Time.Sub(e.Time); back > 0 && len(l.steps) < maxSteps {
			l.steps = append(l.steps, ClockStep{e.Key, back})
		}
		l.last = r
	}
	l.mu.Unlock()
	if !known && l.onRecord != nil {
		l.onRecord(r)
	}
}

// Record returns what stands at a key.
func (l *Records) Record(key string) (Record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.records[key]
	return r, ok
}

// All returns every record.
func (l *Records) All() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Record, 0, len(l.records))
	for _, r := range l.records {
		all = append(all, r)
	}
	return all
}

// Age is how long ago the server stored a record, as its clock has it.
func (l *Records) Age(r Record) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(time.Now().Add(l.ahead).Sub(r.Time), 0)
}

// Close ends the watch and waits for its goroutine.
func (l *Records) Close() {
	l.cancel()
	l.wg.Wait()
}

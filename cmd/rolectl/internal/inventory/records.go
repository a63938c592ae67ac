package inventory

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Records holds the current records of a bucket, with what an election.Observer does not report:
// the server's time of each record, its token, and why it cannot be read. Records follows the
// bucket until Close.
type Records struct {
	bucket *natskv.Bucket
	nc     *nats.Conn
	cancel context.CancelFunc
	wg     sync.WaitGroup
	// onRecord, if set, is called with every record, those of the snapshot too, from the goroutine
	// of Records.
	onRecord func(Record)
	beats    bool // of idle members are among the records

	mu      sync.Mutex
	records map[string]Record
	steps   []ClockStep
	last    Record        // the newest one
	ahead   time.Duration // the server's clock minus the local clock
}

// Record is one record of a bucket.
type Record struct {
	record.Entry
	Key  string
	Time time.Time // by the clock of the stream's leader
}

// OpenRecords reads the whole bucket, and follows it from then on. ctx bounds the reading only.
func OpenRecords(ctx context.Context, nc *nats.Conn, reach natskv.Reach, bucket string, workers bool,
	wrote func(Record),
) (*Records, error) {
	b, err := reach.Open(ctx, nc, bucket)
	if err != nil {
		return nil, err
	}
	l := &Records{bucket: b, nc: nc, onRecord: wrote, beats: workers, records: map[string]Record{}}
	if l.ahead, _, err = ClockAhead(ctx, nc, reach, b.Stream()); err != nil {
		return nil, err
	}
	filter := record.CandidateFilter
	if workers {
		filter = record.AllFilter
	}
	alive, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	complete := make(chan error, 1) // one answer, and the caller may have left
	l.wg.Go(func() { l.follow(alive, ctx, filter, complete) })
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

// follow keeps a watch open. If the first watch fails before its snapshot, the error is the answer
// to OpenRecords.
func (l *Records) follow(alive, opening context.Context, filter string, complete chan<- error) {
	ctx, first := opening, true
	for alive.Err() == nil {
		err := l.watchOnce(alive, ctx, filter, func() {
			if first {
				complete <- nil
				first = false
			}
		})
		if first {
			complete <- err
			return
		}
		select { // the observer of the same View reports why there is no watch
		case <-time.After(time.Second):
		case <-alive.Done():
		}
		ctx = alive
	}
}

func (l *Records) watchOnce(alive, opening context.Context, filter string, complete func()) error {
	w, err := l.bucket.Watch(opening, l.nc, filter)
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
	r := Record{record.Decode(e.Key, e.Value, e.Revision, e.Marker, l.bucket.MaxTTL()), e.Key, e.Time}
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

// Record returns the record at a key.
func (l *Records) Record(key string) (Record, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.records[key]
	return r, ok
}

// All returns all records.
func (l *Records) All() []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Record, 0, len(l.records))
	for _, r := range l.records {
		all = append(all, r)
	}
	return all
}

// Age returns how long ago the server stored a record, by the server's clock.
func (l *Records) Age(r Record) time.Duration { return max(l.Now().Sub(r.Time), 0) }

// Now is the time by the server's clock.
func (l *Records) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Now().Add(l.ahead)
}

// MaxTTL is the longest TTL that a session in the bucket may have. The record of a session that has
// ended stays for twice as long.
func (l *Records) MaxTTL() time.Duration { return l.bucket.MaxTTL() }

// Close ends the watch and waits for its goroutine.
func (l *Records) Close() {
	l.cancel()
	l.wg.Wait()
}

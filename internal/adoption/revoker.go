package adoption

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

const (
	by = "rolectl bucket adopt"
	// writeWithin bounds one write; againAfter is the wait after one without an answer.
	writeWithin = 2 * time.Second
	againAfter  = 200 * time.Millisecond
	kept        = 24 * time.Hour // a revoked lease, unless the purge comes first
)

// revoker revokes every lease that is alive, as long as it runs: a process that was about to open
// its session when the bucket was marked may still do so.
type revoker struct {
	nc     *nats.Conn
	bucket *natskv.Bucket
	writer *natskv.Writer
	ctx    context.Context
	fail   context.CancelCauseFunc // of ctx, for a fault that will last
	wg     sync.WaitGroup
	first  chan struct{} // closed when every lease of the first snapshot is revoked

	mu    sync.Mutex
	open  int // revocations without an answer
	won   int
	whole bool // the first snapshot has arrived
	told  bool
}

func startRevoker(
	ctx context.Context, fail context.CancelCauseFunc, nc *nats.Conn, bucket *natskv.Bucket,
) (*revoker, error) {
	w, err := natskv.NewWriter(nc, bucket)
	if err != nil {
		return nil, fmt.Errorf("revoke the leases: %w", err)
	}
	r := &revoker{nc: nc, bucket: bucket, writer: w, ctx: ctx, fail: fail, first: make(chan struct{})}
	r.wg.Go(r.run)
	return r, nil
}

// end ends it and waits for it.
func (r *revoker) end() {
	r.fail(nil)
	r.wg.Wait()
	r.writer.Close()
}

func (r *revoker) revoked() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.won
}

func (r *revoker) run() {
	for r.ctx.Err() == nil {
		if err := r.watch(); natskv.Permanent(err) {
			r.fail(err)
		} else if err != nil {
			r.pause()
		}
	}
}

func (r *revoker) watch() error {
	w, err := r.bucket.Watch(r.ctx, r.nc, record.AllFilter)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := r.bucket.Identify(r.ctx, r.nc); err != nil {
		return err
	}
	for {
		select {
		case <-r.ctx.Done():
			return nil
		case u, ok := <-w.C():
			if !ok {
				return w.Err()
			}
			for _, e := range u.Entries {
				l := record.Decode(e.Key, e.Value, e.Revision, e.Marker, r.bucket.MaxTTL())
				if l.Kind == record.KindLease && l.Form == record.FormRecord && l.Lease.Alive() {
					r.note(func() { r.open++ })
					r.revoke(e.Key, l)
				}
			}
			if u.Snapshot {
				r.note(func() { r.whole = true })
			}
		}
	}
}

// revoke writes over a lease. If it is refused, the watch delivers what came first.
func (r *revoker) revoke(key string, e record.Entry) {
	rec := e.Lease
	rec.State, rec.By = record.Revoked, by
	if rec.Session == 0 {
		rec.Session = e.Revision
	}
	w := natskv.Write{Key: key, Value: record.Encode(rec), Expect: e.Revision, TTL: kept}
	r.writer.Submit(w, writeWithin, func(res natskv.Result) {
		switch {
		case res.Outcome == natskv.Won:
			r.note(func() { r.open, r.won = r.open-1, r.won+1 })
		case res.Outcome == natskv.Refused:
			r.note(func() { r.open-- })
		case natskv.Permanent(res.Err):
			r.fail(fmt.Errorf("revoke %s: %w", key, res.Err))
		default:
			r.wg.Go(func() {
				if r.pause(); r.ctx.Err() == nil {
					r.revoke(key, e)
				}
			})
		}
	})
}

// note changes the counts, and tells when every lease of the first snapshot is revoked.
func (r *revoker) note(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
	if r.whole && r.open == 0 && !r.told {
		r.told = true
		close(r.first)
	}
}

func (r *revoker) pause() {
	select {
	case <-time.After(againAfter):
	case <-r.ctx.Done():
	}
}

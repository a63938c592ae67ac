// Package deadlease ends the leases of a process that has ended, over a connection of the guard
// that knows it: it carries out what package ending decides.
package deadlease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/guardlink"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/ending"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Bucket is a bucket in which the process has sessions. It is kept open, so that the last write
// takes one round trip. Close it.
type Bucket struct {
	nc     *nats.Conn
	store  *natskv.Bucket
	writer *natskv.Writer
}

const (
	openWithin = 5 * time.Second
	askWithin  = 500 * time.Millisecond
)

// ErrTTL means that a session was not ended: its TTL does that.
var ErrTTL = errors.New("the TTL decides")

// Open opens a bucket that the process has named. Errors are those of natskv.Reach.Open, and
// OtherBucketError if another bucket has the name.
func Open(ctx context.Context, nc *nats.Conn, at guardlink.Place) (*Bucket, error) {
	ctx, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	reach, err := natskv.NewReach(at.Domain, at.Prefix)
	if err != nil {
		return nil, err
	}
	store, err := reach.Open(ctx, nc, at.Bucket)
	if err != nil {
		return nil, err
	}
	if found := store.Identity(); at.ID != "" && found.ID != at.ID {
		return nil, &natskv.OtherBucketError{Bucket: at.Bucket, Opened: natskv.Identity{ID: at.ID}, Found: found}
	}
	writer, err := natskv.NewWriter(nc, store)
	if err != nil {
		return nil, err
	}
	return &Bucket{nc: nc, store: store, writer: writer}, nil
}

// End ends one session, or gives up when ctx ends, which has a deadline. It returns nil for a
// session that has ended before. Errors: ErrTTL.
func (b *Bucket) End(ctx context.Context, e *ending.Ending) error {
	var last error
	for e.Next() != ending.Over {
		if ctx.Err() != nil {
			return errors.Join(fmt.Errorf("%w: the server did not answer in time", ErrTTL), last)
		}
		if e.Next() == ending.Read {
			last = b.read(ctx, e)
		} else {
			last = b.write(ctx, e)
		}
		if last != nil {
			pause(ctx)
		}
	}
	if !e.Killed() && !e.Dead() {
		return fmt.Errorf("%w: the lease is not the program's any more, or moved again and again", ErrTTL)
	}
	return nil
}

func (b *Bucket) read(ctx context.Context, e *ending.Ending) error {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	found, err := b.store.Get(ctx, b.nc, e.Key())
	switch {
	case errors.Is(err, natskv.ErrRecordNotFound):
		e.Missing()
		return nil
	case err != nil:
		return err
	}
	x := record.Decode(found.Key, found.Value, found.Revision, found.Marker, b.store.MaxTTL())
	e.Found(&x)
	return nil
}

func (b *Bucket) write(ctx context.Context, e *ending.Ending) error {
	value, expect, ttl := e.Kill(b.store.MaxTTL())
	timeout := askWithin
	if end, ok := ctx.Deadline(); ok {
		timeout = min(timeout, time.Until(end))
	}
	done := make(chan natskv.Result, 1)
	b.writer.Submit(natskv.Write{Key: e.Key(), Value: value, Delete: true, Expect: expect, TTL: ttl}, max(timeout, 1),
		func(r natskv.Result) { done <- r })
	switch r := <-done; r.Outcome {
	case natskv.Won:
		e.Written(record.Won)
	case natskv.Refused:
		e.Written(record.Refused)
	default:
		e.Written(record.Unknown)
		return r.Err
	}
	return nil
}

// Close ends the writer of the bucket.
func (b *Bucket) Close() { b.writer.Close() }

// pause lets a server that does not answer come back.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(20 * time.Millisecond):
	}
}

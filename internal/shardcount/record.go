package shardcount

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// OtherError says that a group is recorded with another number of shards, or, if Recorded is 0,
// that the record cannot be read. It is not replaced then: processes may run by what it said.
type OtherError struct {
	Bucket, Group  string
	Want, Recorded int
	Err            error // why it cannot be read
}

func (e *OtherError) Unwrap() error { return e.Err }

func (e *OtherError) Error() string {
	if e.Recorded == 0 {
		return fmt.Sprintf("the record of how many shards group %q has cannot be read: %v: when no process adds another "+
			"number than %d, delete it with \"nats kv del %s %s\"", e.Group, e.Err, e.Want, e.Bucket, record.ShardsKey(e.Group))
	}
	return fmt.Sprintf("group %q has %d shards in this bucket, and this process adds %d: the number of a group is final, "+
		"so use %[2]d, or another name for the group", e.Group, e.Recorded, e.Want)
}

// attempts bounds how often the record is read and written. Each write that is refused has met one
// of another process, and that is compared next.
const attempts = 5

// Record records how many shards a group has. The first process that does so decides. Errors:
// *OtherError, record.ErrNewer, ctx's, and those of a watch and of a write.
func Record(ctx context.Context, nc *nats.Conn, b *natskv.Bucket, group string, n int, timeout time.Duration) error {
	var last error
	for range attempts {
		e, err := read(ctx, nc, b, group)
		if err != nil {
			return fmt.Errorf("read how many shards %s has: %w", group, err)
		}
		if !e.Marker && e.Revision > 0 {
			recorded, err := record.DecodeShards(e.Value)
			switch {
			case errors.Is(err, record.ErrNewer):
				return fmt.Errorf("how many shards %s has: %w", group, err)
			case err != nil:
				return &OtherError{Bucket: b.Name(), Group: group, Want: n, Err: err}
			case recorded.N != n:
				return &OtherError{Bucket: b.Name(), Group: group, Want: n, Recorded: recorded.N}
			}
			return nil
		}
		r, err := write(nc, b, natskv.Write{
			Key: record.ShardsKey(group), Value: record.Encode(record.Shards{V: record.Version, N: n}), Expect: e.Revision,
		}, timeout)
		switch {
		case err != nil:
			return fmt.Errorf("record how many shards %s has: %w", group, err)
		case r.Outcome == natskv.Won:
			return nil
		case natskv.Permanent(r.Err):
			return fmt.Errorf("record how many shards %s has: %w", group, r.Err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		last = r.Err
	}
	return fmt.Errorf("record how many shards %s has: %w", group, last)
}

// read is what is recorded of a group, the zero Entry for nothing. A watch reads it, so that a
// candidate needs no further permission.
func read(ctx context.Context, nc *nats.Conn, b *natskv.Bucket, group string) (e natskv.Entry, err error) {
	w, err := b.Watch(ctx, nc, record.ShardsKey(group))
	if err != nil {
		return e, err
	}
	defer w.Close()
	for {
		select {
		case u, ok := <-w.C():
			if !ok {
				return e, w.Err()
			}
			for _, e = range u.Entries {
			}
			if u.Snapshot {
				return e, nil
			}
		case <-ctx.Done():
			return e, ctx.Err()
		}
	}
}

func write(nc *nats.Conn, b *natskv.Bucket, op natskv.Write, timeout time.Duration) (natskv.Result, error) {
	w, err := natskv.NewWriter(nc, b)
	if err != nil {
		return natskv.Result{}, err
	}
	defer w.Close()
	done := make(chan natskv.Result, 1) // one result
	w.Submit(op, timeout, func(r natskv.Result) { done <- r })
	return <-done, nil
}

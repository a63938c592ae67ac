package assign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// output is what the task has returned. A large output is not in the outcome: that says where it is.
func (c *Client) output(ctx context.Context, o *outcome) ([]byte, error) {
	if !o.object {
		return o.data, nil
	}
	at, err := decodeObject(o.data)
	if err != nil {
		return nil, err
	}
	pace, began := newPace(), time.Now()
	// Each try has twice the time of the one before, should the way be slow.
	for patience := at.patience(); ; patience = min(2*patience, time.Hour) {
		data, err := c.object(ctx, at, patience)
		missing := errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, jetstream.ErrBucketNotFound)
		switch {
		case err == nil:
			return data, nil
		case missing && time.Since(began) >= recordLag:
			return nil, fmt.Errorf("%w (%s of %d bytes: %w)", ErrOutputGone, at.Name, at.Size, err)
		case errors.Is(err, errRecord), natskv.Permanent(err) && !missing:
			return nil, err
		}
		if ended := c.pause(ctx, pace); ended != nil {
			return nil, errors.Join(ended, err)
		}
	}
}

// object reads one object. The digest of the outcome names the very attempt.
func (c *Client) object(ctx context.Context, at objectRecord, patience time.Duration) (data []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ctx, release := untilReconnect(ctx, c.nc, c.closed)
	defer func() { err = release(err) }()
	js, err := jetstream.New(c.nc)
	if err != nil {
		return nil, err
	}
	store, err := js.ObjectStore(ctx, objectBucket(c.cfg.Namespace))
	if err != nil {
		return nil, fmt.Errorf("open the object store %s: %w", objectBucket(c.cfg.Namespace), err)
	}
	info, err := store.GetInfo(ctx, at.Name)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", at.Name, err)
	}
	if info.Size != uint64(at.Size) || info.Digest != at.Digest {
		return nil, fmt.Errorf("%w: object %s has %d bytes, %s; the outcome says %d, %s",
			errRecord, at.Name, info.Size, info.Digest, at.Size, at.Digest)
	}
	if data, err = readChunks(ctx, c.nc, info); err != nil {
		return nil, fmt.Errorf("read object %s: %w", at.Name, err)
	}
	return data, nil
}

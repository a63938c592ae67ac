package assign

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

const (
	// objectPatience bounds one attempt to read a large output.
	objectPatience = time.Minute
	// objectLag is how long a replica may say that it has no such object: any of them answers, also one that lags.
	objectLag = 5 * time.Second
)

// output is what the task has returned. A large output is not in the outcome: that says where it is.
func (c *Client) output(ctx context.Context, o *outcome) ([]byte, error) {
	if !o.object {
		return o.data, nil
	}
	var at objectRecord
	if err := json.Unmarshal(o.data, &at); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	pace, began := newPace(), time.Now()
	for {
		data, err := c.object(ctx, at)
		missing := errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, jetstream.ErrBucketNotFound)
		switch {
		case err == nil:
			return data, nil
		case missing && time.Since(began) > objectLag:
			return nil, fmt.Errorf("%w (%s of %d bytes: %w)", ErrOutputGone, at.Name, at.Size, err)
		case errors.Is(err, errRecord), natskv.Permanent(err) && !missing:
			return nil, err
		}
		if ended := c.pause(ctx, pace); ended != nil {
			return nil, errors.Join(ended, err)
		}
	}
}

// object reads one object. The library compares its digest, and that of the outcome names the very attempt.
func (c *Client) object(ctx context.Context, at objectRecord) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, objectPatience)
	defer cancel()
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
	data, err := store.GetBytes(ctx, at.Name)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", at.Name, err)
	}
	return data, nil
}

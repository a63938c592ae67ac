package assign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Outputs above inlineMax do not fit into a record beside thousands of others: the worker stores them as objects, and then
// reports their name. An object that no outcome names, since its attempt was stale or its worker died, is removed by the
// store's own time limit, as all are.
const (
	inlineMax = 64 << 10 // bytes

	// objectSlack is how much longer than LargeRetention an object is kept: it is stored before its outcome, and the outcome's
	// time begins when a scheduler has committed it.
	objectSlack = time.Hour
	objectChunk = 512 << 10
	// A try to store takes this long at most, and so much longer for each MiB.
	objectWithin  = 20 * time.Second
	storePatience = 5 * time.Minute
)

// objectBucket is the object store of a namespace.
func objectBucket(namespace string) string { return streamName(namespace) }

// objectName is where the output of an attempt is: an attempt has one.
func objectName(id string, a tasks.Attempt) string { return id + "." + a.String() }

// objects stores large outputs, for one shift.
type objects struct {
	s      *shift
	opened atomic.Pointer[openObjects]
}

type openObjects struct {
	store jetstream.ObjectStore
	ttl   time.Duration // 0: for ever
}

// inline is how large an output may be to go along with its report.
func (s *shift) inline() int {
	return max(min(inlineMax, int(s.h.Conn().MaxPayload())-headroom), 0)
}

// finding stores an output and is what to report of it. It tries as long as what the attempt says counts: neither its timeout
// nor a shut-down ends that. What does not pass within storePatience, or never will, is the attempt's failure.
func (o *objects) finding(ctx context.Context, x *execution, data []byte, retention time.Duration) tasks.Finding {
	if most := o.s.a.cfg.MaxResult; len(data) > most {
		return finding(ctx, nil, Permanent(fmt.Errorf(
			"the output has %d bytes, the limit is %d: raise MaxResult, or store it elsewhere and return its name", len(data), most)))
	}
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 100*time.Millisecond, 5*time.Second
	tries := 0
	record, err := backoff.Retry(x.life, func() (r objectRecord, err error) {
		within, cancel := context.WithTimeout(x.life, objectWithin+time.Duration(len(data)>>20)*time.Second)
		defer cancel()
		if r, err = o.store(within, objectName(x.id, x.attempt), data, retention); err == nil {
			return r, nil
		}
		if tries++; !passing(err) {
			return r, backoff.Permanent(err)
		}
		o.s.h.Emit(event.Fault{Meta: o.s.meta(), Doing: "store a large output", Err: err, Attempts: tries})
		return r, err
	}, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(storePatience))
	if err != nil {
		return finding(ctx, nil, fmt.Errorf("store the output of %d bytes: %w", len(data), err))
	}
	encoded, err := json.Marshal(record)
	if err != nil {
		return finding(ctx, nil, err)
	}
	return tasks.Finding{Verb: tasks.Succeeded, Stored: true, Data: encoded}
}

// passing reports whether a fault may pass by itself.
func passing(err error) bool {
	var refused *jetstream.APIError
	switch {
	case errors.As(err, &refused):
		return refused.Code >= 500 // unavailable, or no room
	case errors.As(err, new(*permanentError)), errors.Is(err, jetstream.ErrBucketNotFound), errors.Is(err, nats.ErrConnectionClosed):
		return false
	}
	return true
}

// store stores an output once, under a name that a lost answer may have stored it under before.
func (o *objects) store(ctx context.Context, name string, data []byte, retention time.Duration) (r objectRecord, err error) {
	b, err := o.open(ctx)
	if err != nil {
		return r, err
	}
	if kept := b.ttl - objectSlack; b.ttl > 0 && retention > kept {
		return r, Permanent(fmt.Errorf("the outcome is kept for %v, but a large output for %v only: give the kind a shorter Retention, or raise "+
			"LargeRetention and the max age of the object store %s", retention, max(kept, 0), objectBucket(o.s.a.cfg.Namespace)))
	}
	chunk := max(min(objectChunk, int(o.s.h.Conn().MaxPayload())/2), 1)
	info, err := b.store.Put(ctx, jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{ChunkSize: uint32(chunk)}}, pausing{bytes.NewReader(data)})
	if err != nil {
		o.opened.Store(nil)
		return r, err
	}
	if len(data) > chunk {
		// The client uses one buffer for all chunks: one that is sent again, since the stream had no leader for a moment, may
		// hold the bytes of a later one.
		if read, err := b.store.GetBytes(ctx, name); err != nil {
			return r, fmt.Errorf("read it back: %w", err)
		} else if !bytes.Equal(read, data) {
			return r, errors.New("what was read back is not what was stored")
		}
	}
	return objectRecord{Name: name, Size: len(data), Digest: info.Digest}, nil
}

// pausing reads what is to be stored, with a pause before the end. With the first chunk the client (nats.go 1.55) starts a
// goroutine that stays for ever if all is stored before it has begun.
type pausing struct{ *bytes.Reader }

func (p pausing) Read(b []byte) (int, error) {
	if p.Len() == 0 {
		time.Sleep(time.Millisecond)
	}
	return p.Reader.Read(b)
}

// open opens the object store, or makes it if the stream would be made too.
func (o *objects) open(ctx context.Context) (*openObjects, error) {
	if b := o.opened.Load(); b != nil {
		return b, nil
	}
	js, err := jetstream.New(o.s.h.Conn())
	if err != nil {
		return nil, err
	}
	cfg, bucket := &o.s.a.cfg, objectBucket(o.s.a.cfg.Namespace)
	store, err := js.ObjectStore(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		if !cfg.StreamAutoCreate {
			return nil, fmt.Errorf("%w: object store %s: set StreamAutoCreate, or make it", err, bucket)
		}
		store, err = js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: bucket, TTL: cfg.LargeRetention + objectSlack, Storage: cfg.Storage, Replicas: cfg.client().withDefaults().Replicas,
		})
		if errors.Is(err, jetstream.ErrBucketExists) { // another worker was faster
			store, err = js.ObjectStore(ctx, bucket)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open the object store %s: %w", bucket, err)
	}
	status, err := store.Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("open the object store %s: %w", bucket, err)
	}
	b := &openObjects{store, status.TTL()}
	o.opened.Store(b)
	return b, nil
}

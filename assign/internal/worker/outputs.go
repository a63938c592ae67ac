package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/shortcut"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsconn"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// Outputs above inlineMax do not fit into a record beside thousands of others. The worker stores
// them as objects, and then reports their names. No outcome names an object whose attempt was
// stale, whose worker died, or whose answer was lost. Package upkeep removes such an object, as
// it removes one whose outcome has left.
const (
	inlineMax = 64 << 10 // bytes

	objectChunk = 512 << 10
	// A try to store takes at most this long, plus one second for each MiB.
	objectWithin  = 20 * time.Second
	storePatience = 5 * time.Minute
	// missingPatience is shorter, so that the fault of the last try says that the task is dead
	// because of it.
	missingPatience = storePatience - 10*time.Second
)

// objectName is the name under which one try stores the output of an attempt. Each try has its own
// name, because a chunk of an earlier one may still arrive.
func objectName(id string, a tasks.Attempt, try int) string {
	name := id + "." + a.String()
	if try > 1 {
		name += "." + strconv.Itoa(try)
	}
	return name
}

// objects stores large outputs, under one lease.
type objects struct {
	cfg    Config
	h      Host
	out    *shortcut.Sender
	opened atomic.Pointer[stream.ObjectStore]
	missed atomic.Int64 // when the store was first found to be missing, Unix nanoseconds; 0 when it was there at last
}

// inline is how large an output may be to go along with its report.
func (o *objects) inline() int {
	return max(min(inlineMax, o.out.MaxPayload()-record.Headroom), 0)
}

// finding stores an output and returns the report of it. It tries for as long as the attempt's
// report counts. The attempt's timeout does not end that, because the work is done. When the worker
// shuts down, and handlers are cancelled, the task is given back. A fault that does not pass within
// storePatience, or never will, is the attempt's failure.
//
// A store that is missing or unfit is waited for like one that does not answer: the attempt has its
// output, and did nothing wrong. But workers do not wait for ever because of a fault of the set-up.
// When the fault has lasted for missingPatience, the task is dead at once, because no further
// attempt would fix the fault. So is each task that needs the store, until the store is fixed.
func (o *objects) finding(ctx, attempt context.Context, id string, a tasks.Attempt, data []byte,
	retention time.Duration,
) frame.Finding {
	if most := o.cfg.MaxResult; len(data) > most {
		return attemptResult(ctx, nil, taskerr.Permanent(fmt.Errorf(
			"the output has %d bytes, the limit is %d: raise MaxResult, or store it elsewhere and return its name", len(data),
			most)))
	}
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 100*time.Millisecond, 5*time.Second
	tries := 1
	kept, err := backoff.Retry(attempt, func() (r record.Object, err error) {
		within, cancel := context.WithTimeout(attempt, objectWithin+time.Duration(len(data)>>20)*time.Second)
		defer cancel()
		within, release := natsconn.UntilReconnect(within, o.h.Conn(), nil, nil)
		r, err = o.store(within, objectName(id, a, tries), data, retention)
		if err = release(err); err == nil {
			return r, nil
		}
		if attempt.Err() != nil { // the attempt was ended meanwhile: that is not a fault
			return r, backoff.Permanent(err)
		}
		if (errors.Is(err, taskerr.ErrObjectsNotFound) || errors.As(err, new(*natskv.UnfitError))) && o.missing() {
			err = taskerr.Permanent(err)
		}
		if !passing(err) {
			return r, backoff.Permanent(err)
		}
		o.h.Emit(event.Fault{Meta: o.h.Meta(), Doing: "store a large output", Err: err, Attempts: tries})
		tries++
		return r, err
	}, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(storePatience))
	if err != nil && attempt.Err() != nil {
		return attemptResult(attempt, nil, err)
	}
	if err != nil {
		return attemptResult(ctx, nil, fmt.Errorf("store the output of %d bytes: %w", len(data), err))
	}
	encoded, err := json.Marshal(kept)
	if err != nil {
		return attemptResult(ctx, nil, err)
	}
	return frame.Finding{Verb: tasks.Succeeded, Stored: true, Data: encoded}
}

// missing notes that the store is missing or unfit, and reports whether that has lasted for
// missingPatience.
func (o *objects) missing() bool {
	now := time.Now()
	o.missed.CompareAndSwap(0, now.UnixNano())
	return now.UnixNano()-o.missed.Load() >= int64(missingPatience)
}

// passing reports whether a fault may pass by itself.
func passing(err error) bool {
	var refused *jetstream.APIError
	switch {
	case errors.As(err, &refused):
		return refused.Code >= 500 // unavailable, or no room
	case taskerr.IsPermanent(err), errors.Is(err, nats.ErrConnectionClosed):
		return false
	}
	return true
}

// store stores an output once, under the given name.
func (o *objects) store(ctx context.Context, name string, data []byte,
	retention time.Duration,
) (r record.Object, err error) {
	b, err := o.open(ctx)
	if err != nil {
		return r, err
	}
	if b.Retention > 0 && retention > b.Retention {
		return r, taskerr.Permanent(
			fmt.Errorf("the outcome is kept for %v, but a large output for %v only: give the kind a shorter Retention, "+
				"or raise "+
				"LargeRetention and the max age of the object store %s", retention, b.Retention, b.Name))
	}
	chunk := max(min(objectChunk, o.out.MaxPayload()/2), 1)
	if r, err = b.Put(ctx, name, data, chunk); err != nil {
		o.opened.Store(nil)
	}
	return r, err
}

// open opens the object store, or creates it if StreamAutoCreate is set.
func (o *objects) open(ctx context.Context) (*stream.ObjectStore, error) {
	if b := o.opened.Load(); b != nil {
		return b, nil
	}
	b, err := stream.OpenObjects(ctx, o.h.Conn(), o.cfg.Stream)
	if err != nil {
		return nil, err
	}
	o.opened.Store(b)
	o.missed.Store(0)
	return b, nil
}

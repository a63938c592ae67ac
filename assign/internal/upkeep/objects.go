package upkeep

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// removal removes large outputs from the object store that no task needs: their outcomes have left,
// or the attempt that stored them did not count, or a try to store them was interrupted. The
// store's time limit would remove them, too, but only after LargeRetention.
type removal struct {
	Config
	orphans orphans
	denied  bool // reported
}

const (
	doing        = "remove large outputs that no task needs"
	objectsFirst = 2 * time.Minute // after the term has begun
	objectsEvery = 10 * time.Minute
)

// run looks until ctx ends.
func (r *removal) run(ctx context.Context) {
	pause, attempts := objectsFirst, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		switch err := r.look(ctx, began); {
		case err == nil:
			attempts = 0
		case ctx.Err() == nil && !r.reported(err):
			attempts++
			r.Emit(event.Fault{Meta: r.Meta(), Doing: doing, Err: fault(err), Attempts: attempts})
		}
		pause = max(objectsEvery, restFactor*time.Since(began))
	}
}

// reported reports whether an error says what was reported before: a right that is missing.
func (r *removal) reported(err error) bool {
	before := r.denied
	r.denied = errors.As(err, new(*natskv.PermissionError))
	return before && r.denied
}

// fault is the error of a look, for people. A right that is missing is one that errors.Is finds.
func fault(err error) error {
	if errors.As(err, new(*natskv.PermissionError)) {
		return taskerr.Permission(err)
	}
	return err
}

// look compares the store with the records of all tasks, and removes what is due. Without the right
// to list the store it fails only if there is something to list.
func (r *removal) look(ctx context.Context, now time.Time) error {
	store, err := stream.OpenObjects(ctx, r.Conn, r.Objects)
	if errors.Is(err, taskerr.ErrObjectsNotFound) {
		return nil
	}
	if err != nil {
		if used, e := r.compare(ctx, newChunks(nil)); e == nil && !used {
			return nil
		}
		return err
	}
	var others []string
	for skip, full := 0, true; full; skip += natskv.KeyPage {
		keys, err := store.Chunks(ctx, skip)
		if err != nil {
			return err
		}
		full = len(keys) >= natskv.KeyPage
		if len(keys) == 0 {
			break
		}
		c := newChunks(keys)
		if _, err := r.compare(ctx, c); err != nil {
			return err
		}
		others = append(others, c.others()...)
	}
	due := r.orphans.see(others, now)
	n, err := store.Remove(ctx, due)
	r.orphans.removed(due[:n])
	return err
}

// compare notes the chunks that the records of tasks need. It reports whether any task has its
// output in the store.
func (r *removal) compare(ctx context.Context, c *chunks) (used bool, err error) {
	if len(c.keys) > 0 {
		if err := bundled(ctx, r.Config, c.open); err != nil { // before the outcomes
			return false, err
		}
	}
	err = headers(ctx, r.Config, func(e *natskv.Entry) error {
		id := e.Key[len(record.QueueKey):]
		outcome, err := record.DecodeOutcome(e.Header, nil)
		switch {
		case err != nil || outcome == nil: // what cannot be read is not known to have ended
			c.open(id)
		case !outcome.Object:
		case c.ended(id, outcome.Last()):
			used = true
			return r.name(ctx, c, id, e.Revision)
		default:
			used = true
		}
		return nil
	})
	return used, err
}

// name notes the object that the outcome of a task at a revision names. An outcome that has been
// replaced meanwhile is read again later. One that cannot be read may name any.
func (r *removal) name(ctx context.Context, c *chunks, id string, revision uint64) error {
	e, err := r.Stream.GetRevision(ctx, r.Conn, revision)
	if errors.Is(err, natskv.ErrRecordNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	at, err := record.DecodeObject(e.Value)
	if err != nil {
		c.open(id)
	}
	c.named(at.Name)
	return nil
}

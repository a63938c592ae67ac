package assign

import (
	"context"
	"fmt"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
)

// PauseKind stops tasks of a kind from being handed out until [ResumeKind]. Tasks that run
// continue. The pause is stored, needs no leader, and outlives every leader. reason is for people.
// Errors: ErrInvalidName, ErrClosed, permanent faults of the connection, ctx's: then the pause may
// be stored or not.
func PauseKind(ctx context.Context, in Submitter, kind, reason string) error {
	return steer(ctx, in, "pause", client.PausedKind, kind, true, reason)
}

// ResumeKind ends [PauseKind]. It returns nil if the kind was not paused. Errors are those of
// PauseKind.
func ResumeKind(ctx context.Context, in Submitter, kind string) error {
	return steer(ctx, in, "resume", client.PausedKind, kind, false, "")
}

// DrainWorker stops an instance from being given tasks until [UndrainWorker], even if it has
// another session meanwhile. Tasks that it runs continue. The drain is stored, needs no leader, and
// outlives every leader. reason is for people. Errors are those of PauseKind.
func DrainWorker(ctx context.Context, in Submitter, instance, reason string) error {
	return steer(ctx, in, "drain", client.DrainedWorker, instance, true, reason)
}

// UndrainWorker ends [DrainWorker]. It returns nil if the instance was not drained. Errors are
// those of PauseKind.
func UndrainWorker(ctx context.Context, in Submitter, instance string) error {
	return steer(ctx, in, "undrain", client.DrainedWorker, instance, false, "")
}

// steer sets or removes the record that pauses a kind or drains a worker.
func steer(ctx context.Context, in Submitter, doing string, of client.Hold, name string, hold bool,
	reason string,
) error {
	if !naming.Valid(name) {
		return fmt.Errorf("%w: %s %q", ErrInvalidName, doing, name)
	}
	if len(reason) > record.MaxMeta {
		return taskerr.TooLarge("a reason", len(reason), record.MaxMeta, "shorten it")
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return err
	}
	return c.Set(ctx, doing, of, name, hold, reason)
}

package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/stream"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Run hands out the namespace's tasks for one term. It returns nil when ctx has ended.
func Run(ctx context.Context, t *election.Term, h Host, cfg Config) error {
	stream, err := awaitStream(ctx, h, cfg.Stream)
	if err != nil {
		return unlessEnded(ctx, err)
	}
	s := newScheduler(newTerm(cfg, t, h, stream))
	if err = s.begin(ctx); err == nil {
		if err = s.run(ctx); err == nil {
			s.retire()
			s.announceLast()
		}
	}
	s.end()
	return unlessEnded(ctx, err)
}

// unlessEnded drops an error that is due to the end of ctx, and makes a denial one that errors.Is
// finds.
func unlessEnded(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	if errors.Is(err, nats.ErrPermissionViolation) && !errors.Is(err, election.ErrPermission) {
		return taskerr.Permission(err)
	}
	return err
}

// awaitStream opens the stream. It tries again while the fault may pass.
func awaitStream(ctx context.Context, h Host, cfg stream.Options) (*natskv.Stream, error) {
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	return backoff.Retry(ctx, func() (*natskv.Stream, error) {
		s, err := stream.Open(ctx, h.Conn(), cfg)
		if err != nil && (natskv.Permanent(err) || errors.Is(err, taskerr.ErrStreamNotFound)) {
			err = backoff.Permanent(err)
		}
		return s, err
	}, backoff.WithBackOff(pace), backoff.WithMaxElapsedTime(0))
}

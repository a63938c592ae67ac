package scheduler

import (
	"context"
	"errors"
	"fmt"
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
	err = newScheduler(newTerm(cfg, t, h, stream)).serve(ctx)
	return unlessEnded(ctx, rivalled(ctx, t, cfg, compared(h, cfg.Namespace, err)))
}

// serve is the term. It stops all that it has started, also after a panic, such as that of a
// configured Placement.
func (s *scheduler) serve(ctx context.Context) error {
	defer s.end()
	err := s.begin(ctx)
	if err == nil {
		err = s.run(ctx)
	}
	s.leave() // before the wait for the last write: nobody answers reports any more
	if err == nil {
		s.retire()
		s.announceLast()
	}
	return err
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

// fencedError is ErrFenced: the stream has the seal of a later term.
type fencedError struct {
	by, epoch uint64 // of the seal, and of this term
}

func (e *fencedError) Error() string {
	return fmt.Sprintf("%v: its epoch is %d, ours %d", taskerr.ErrFenced, e.by, e.epoch)
}

func (e *fencedError) Is(target error) bool { return target == taskerr.ErrFenced }

// compareWithin bounds each question about who else may have sealed the stream.
const compareWithin = 2 * time.Second

// rivalled tells a successor from the leader of another role: while that one seals the stream, the
// server still says that this term is the present one.
func rivalled(ctx context.Context, t *election.Term, cfg Config, err error) error {
	if fenced := (*fencedError)(nil); !errors.As(err, &fenced) || errors.Is(err, election.ErrStoreRegressed) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, compareWithin)
	defer cancel()
	if t.Validate(ctx) != nil {
		return err
	}
	return fmt.Errorf("%w; this process still leads role %q, so the leader of another role hands out the tasks of "+
		"namespace %q, too: give all processes of a namespace the same Config.Role", err, cfg.Role, cfg.Namespace)
}

// compared tells a later term from a bucket that went back. An epoch is a revision of the bucket:
// if the last one is below that of the seal, the bucket cannot have given it, or no longer knows
// that it has. It would give epochs twice. If the bucket does not answer, err stays as it is.
func compared(h Host, namespace string, err error) error {
	fenced := (*fencedError)(nil)
	if !errors.As(err, &fenced) {
		return err
	}
	cfg := h.Config()
	reach, bad := natskv.NewReach(cfg.Domain, cfg.APIPrefix)
	if bad != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), compareWithin)
	defer cancel()
	bucket, unknown := reach.Inspect(ctx, h.Conn(), cfg.Bucket)
	if unknown != nil || bucket.LastSeq >= fenced.by {
		return err
	}
	return fmt.Errorf("%w: the last scheduler of namespace %q had epoch %d, and the last revision of bucket %q is %d: "+
		"an earlier state of the bucket was restored, or another bucket has given that epoch, so epochs would be given "+
		"twice; stop every process that uses it, and run \"rolectl bucket adopt %[4]s\"",
		election.ErrStoreRegressed, namespace, fenced.by, cfg.Bucket, bucket.LastSeq)
}

package adoption

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Step is a step of an adoption.
type Step int

// The steps, in their order.
const (
	Mark     Step = iota // nobody opens the bucket any more
	Revoke               // every lease that is alive is revoked, now and until the purge
	Wait                 // L_max, after which no session is trusted
	Purge                // every record goes, and the revisions rise
	Identify             // the bucket has its new identity
)

func (s Step) String() string {
	return [...]string{"mark the bucket", "revoke the leases", "wait", "purge", "give it an identity"}[s]
}

// Config describes an adoption.
type Config struct {
	Conn   *nats.Conn
	Reach  natskv.Reach
	Bucket string
	// Before, if set, is called before each step. An error interrupts the adoption there.
	Before func(Step) error
}

// Result is what an adoption has done.
type Result struct {
	Identity natskv.Identity
	// Floor is the first revision of the bucket. Revoked counts the leases that were alive.
	Floor   uint64
	Revoked int
	// Waited is L_max of the bucket.
	Waited time.Duration
}

// Run adopts a bucket. It takes L_max of the bucket and a moment. Errors: those of natskv's Adopt,
// ErrAdoptedByAnother, ctx's. After an error the bucket stays marked: run it again.
func Run(ctx context.Context, cfg Config) (Result, error) {
	before := func(s Step) error {
		if cfg.Before == nil {
			return nil
		}
		return cfg.Before(s)
	}
	if err := before(Mark); err != nil {
		return Result{}, err
	}
	a, err := cfg.Reach.Owner(cfg.Conn, cfg.Bucket).Adopt(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := before(Revoke); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r, err := startRevoker(ctx, cancel, cfg.Conn, a.Bucket())
	if err != nil {
		return Result{}, err
	}
	defer r.end()
	select {
	case <-r.first:
	case <-ctx.Done():
		return Result{}, fmt.Errorf("revoke the leases: %w", context.Cause(ctx))
	}
	if err := before(Wait); err != nil {
		return Result{}, err
	}
	select {
	case <-time.After(a.Bucket().MaxTTL()):
	case <-ctx.Done():
		return Result{}, fmt.Errorf("wait for the sessions: %w", context.Cause(ctx))
	}
	if err := before(Purge); err != nil {
		return Result{}, err
	}
	floor, err := a.Purge(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := before(Identify); err != nil {
		return Result{}, err
	}
	identity, err := a.Finish(ctx)
	if err != nil {
		return Result{}, err
	}
	return Result{Identity: identity, Floor: floor, Revoked: r.revoked(), Waited: a.Bucket().MaxTTL()}, nil
}

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
	Remake   Step = iota // a missing bucket is created from its backup, marked; only if there is one
	Mark                 // nobody opens the bucket any more
	Revoke               // every lease that is alive is revoked, now and until the purge
	Wait                 // L_max, after which no session is trusted
	Purge                // every record goes, and the revisions rise
	Identify             // the bucket has its new identity
)

func (s Step) String() string {
	return [...]string{
		"create the bucket if it is missing", "mark the bucket", "revoke the leases", "wait", "purge", "give it an identity",
	}[s]
}

// Config describes an adoption.
type Config struct {
	Conn   *nats.Conn
	Reach  natskv.Reach
	Bucket string
	// Backup, if set, is one of the bucket. A bucket that is missing is created as the backup says,
	// and epochs continue above all that were given since the backup, too.
	Backup *natskv.Backup
	// Before, if set, is called before each step. An error interrupts the adoption there.
	Before func(Step) error
}

// Result is what an adoption has done.
type Result struct {
	Identity natskv.Identity
	// Floor is the first revision of the bucket. Revoked counts the leases that were alive.
	Floor   uint64
	Revoked int
	// Remade says that the bucket was missing.
	Remade bool
	// Waited is L_max of the bucket, or of its backup if that is longer.
	Waited time.Duration
}

// Revoke and Wait end every session before its records go. Two leaders would be kept apart without
// them, since a process takes no role for free in an adopted bucket before L_max (see doc.go). Both
// are kept, since neither does what the other does:
//
//   - A session that lives through the purge does not find its lease, and writes it again over
//     nothing: it would continue in the adopted bucket, unasked. So would a term, which nobody can
//     see there, and tasks that a worker runs.
//   - That rule counts from when a process first looks. It is needed for what these steps do not
//     reach: the late purge of an adoption that was overtaken, and a session that was about to open
//     when the bucket was marked.

// Run adopts a bucket, or restores it if there is a backup. It takes L_max of the bucket and a
// moment. Errors: those of natskv's Remake and Adopt, ErrAdoptedByAnother, ctx's. After an error
// the bucket stays marked: run it again.
func Run(ctx context.Context, cfg Config) (Result, error) {
	before := func(s Step) error {
		if cfg.Before == nil {
			return nil
		}
		return cfg.Before(s)
	}
	owner, remade := cfg.Reach.Owner(cfg.Conn, cfg.Bucket), false
	if cfg.Backup != nil {
		err := before(Remake)
		if err == nil {
			remade, err = owner.Remake(ctx, cfg.Backup)
		}
		if err != nil {
			return Result{}, err
		}
	}
	if err := before(Mark); err != nil {
		return Result{}, err
	}
	a, err := owner.Adopt(ctx, cfg.Backup)
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
	wait := a.Bucket().MaxTTL()
	if cfg.Backup != nil { // sessions of the bucket that was lost may have had longer TTLs than one made since allows
		wait = max(wait, cfg.Backup.MaxTTL())
	}
	select {
	case <-time.After(wait):
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
	return Result{Identity: identity, Floor: floor, Revoked: r.revoked(), Remade: remade, Waited: wait}, nil
}

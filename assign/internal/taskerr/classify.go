package taskerr

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// End is how an attempt ends.
type End string

// The ends of an attempt. Package assign documents them.
const (
	EndSucceeded End = "succeeded"
	EndFailed    End = "failed"
	EndPermanent End = "permanent"
	EndSnoozed   End = "snoozed"
	EndReleased  End = "released"
	EndDropped   End = "dropped"

	EndUndecodable End = "undecodable"
)

// EndOf classifies what a handler returned under ctx.
func EndOf(ctx context.Context, err error) End {
	var snooze *snooze
	var permanent *permanent
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, ErrSessionLost), errors.Is(cause, ErrStopped):
		return EndDropped
	case err == nil:
		return EndSucceeded
	case errors.Is(cause, ErrDraining):
		return EndReleased
	case errors.As(err, new(*undecodable)):
		return EndUndecodable
	case errors.As(err, &snooze):
		return EndSnoozed
	case errors.As(err, &permanent):
		return EndPermanent
	}
	return EndFailed
}

type permanent struct{ err error }

func (e *permanent) Error() string { return e.err.Error() }
func (e *permanent) Unwrap() error { return e.err }

type undecodable struct{ err error }

func (e *undecodable) Error() string { return e.err.Error() }
func (e *undecodable) Unwrap() error { return e.err }

// Undecodable marks the error of an input that this worker cannot decode. Another worker may.
func Undecodable(err error) error { return &undecodable{err} }

// Permanent marks an error that no further attempt would fix; nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanent{err}
}

// IsPermanent reports whether an error was marked with [Permanent].
func IsPermanent(err error) bool { return errors.As(err, new(*permanent)) }

// Bounds of the times that handlers ask for. A snooze is not counted, so nothing else ends a loop
// of them; an error is, up to MaxAttempts. The longest is far below what overflows when it is added
// to a clock's time.
const (
	minSnooze = 100 * time.Millisecond
	minRetry  = time.Millisecond
	maxWait   = 10 * 365 * 24 * time.Hour
)

type retry struct {
	after time.Duration
	err   error
}

func (e *retry) Error() string { return e.err.Error() }
func (e *retry) Unwrap() error { return e.err }

// RetryAfter marks an error with the wait before the next attempt; nil stays nil.
func RetryAfter(d time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &retry{min(max(d, minRetry), maxWait), err}
}

type snooze struct{ after time.Duration }

func (e *snooze) Error() string { return fmt.Sprintf("assign: snoozed for %v", e.after) }

// Snooze returns the error by which a handler asks to run again after d.
func Snooze(d time.Duration) error { return &snooze{min(max(d, minSnooze), maxWait)} }

// Wait is the time that a snooze or a [RetryAfter] asks for, 0 for other errors.
func Wait(err error) time.Duration {
	var s *snooze
	var r *retry
	switch {
	case errors.As(err, &s):
		return s.after
	case errors.As(err, &r):
		return r.after
	}
	return 0
}

package roles

import (
	"context"
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/election"
)

// Fatal marks an error after which this process should not continue. If a Lead returns the marked
// error, itself or wrapped, Run hands over all roles and returns the error. Any other error only
// ends the term. Fatal(nil) is nil.
//
// A return after the term has ended is never a failure, and so is never fatal.
func Fatal(err error) error {
	if err == nil {
		return nil
	}
	return &fatalError{err}
}

type fatalError struct{ err error }

func (e *fatalError) Error() string { return e.err.Error() }
func (e *fatalError) Unwrap() error { return e.err }

// watched is the work of a role, watched for a fatal error; the first fatal error counts.
func (m *Manager) watched(role Role) func(context.Context, *election.Term) error {
	return func(ctx context.Context, t *election.Term) error {
		err := role.Lead(ctx, t)
		if fatal := (*fatalError)(nil); ctx.Err() == nil && errors.As(err, &fatal) {
			select {
			case m.fatal <- fmt.Errorf("roles: lead %s: %w", role.Name, err):
			default:
			}
		}
		return err
	}
}

package roles

import (
	"context"
	"fmt"

	"github.com/rolemanager/rolemanager/election"
)

// StepDown gives a role that this process leads to the next in line. This process does not claim
// the role again for CoolDown. StepDown returns when the work has drained and the role was given
// away. If the work itself calls StepDown, StepDown ends the term and returns
// election.ErrInsideWork; the role is given away when the work returns. Errors: ErrUnknownRole,
// ErrNotRunning, election.ErrNotLeader, election.ErrInsideWork, ctx's error.
func (m *Manager) StepDown(ctx context.Context, role string) error {
	return m.steer(role, func(e *election.Election) error { return e.StepDown(ctx) })
}

// Transfer hands a role that this process leads to another instance. It first asks that instance
// whether it is ready. It returns when the work has drained and the role was given away. Errors:
// those of StepDown, and election.ErrNotCandidate, election.ErrDeclined, election.ErrBusy. If the
// work itself calls Transfer, nothing changes.
func (m *Manager) Transfer(ctx context.Context, role, instance string) error {
	return m.steer(role, func(e *election.Election) error { return e.Transfer(ctx, instance) })
}

// Pause keeps this process from leading a role until Resume; a leader steps down. Pause returns as
// soon as the step-down has begun. Errors: ErrUnknownRole, ErrNotRunning, and
// context.DeadlineExceeded when no session has opened for longer than a drain takes.
func (m *Manager) Pause(role string) error {
	return m.steer(role, func(e *election.Election) error {
		ctx, cancel := context.WithTimeout(context.Background(), m.patience())
		defer cancel()
		return e.Pause(ctx)
	})
}

// Resume ends a Pause, and a cool-down. Errors: those of Pause.
func (m *Manager) Resume(role string) error {
	return m.steer(role, func(e *election.Election) error {
		ctx, cancel := context.WithTimeout(context.Background(), m.patience())
		defer cancel()
		return e.Resume(ctx)
	})
}

func (m *Manager) steer(role string, do func(*election.Election) error) error {
	m.mu.Lock()
	mb, at := m.named[role], m.phase
	m.mu.Unlock()
	switch {
	case mb == nil:
		return fmt.Errorf("%w: %s", ErrUnknownRole, role)
	case at == created:
		return ErrNotRunning
	}
	if err := do(mb.election); err != nil {
		return fmt.Errorf("roles: role %s: %w", role, err)
	}
	return nil
}

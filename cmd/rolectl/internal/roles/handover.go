package roles

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// steerer is one run of step-down or transfer.
type steerer struct {
	a       *cli.App
	s       *inventory.View
	before  election.RoleInfo
	patient bool                  // wait for a leader even if nobody was in line
	target  string                // the instance that shall get the role; "" for step-down
	records chan inventory.Record // of the role, from the snapshot on
	cancel  context.CancelFunc
}

// steer reads a role that shall be handed over, at an epoch (0: any). Errors: nobody leads it, or
// another epoch.
func steer(ctx context.Context, a *cli.App, role string, epoch uint64) (*steerer, error) {
	if _, err := a.Connect(); err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, a.Target.Timeout)
	defer cancel()
	alive, stop := context.WithCancel(context.Background())
	// read only after the user has answered
	t := &steerer{a: a, records: make(chan inventory.Record, maxTerms), cancel: stop}
	key := record.RoleKey(role)
	var err error
	t.s, err = inventory.OpenView(opening, a, false, func(r inventory.Record) {
		if r.Key != key {
			return
		}
		select {
		case t.records <- r:
		case <-alive.Done():
		}
	})
	if err != nil {
		stop()
		return nil, err
	}
	info, ok := t.s.Role(role)
	switch {
	case !ok:
		err = t.s.UnknownRole(role)
	case t.s.DescribeRole(info).Newer:
		err = fmt.Errorf("the leader of %s is unknown: a later version wrote its record: use a rolectl of that version", role)
	case info.Leader == "":
		err = cli.ExitWith(cli.ExitNoLeader, fmt.Errorf("nobody leads %s, so there is nothing to hand over", role))
	case epoch != 0 && epoch != info.Epoch:
		err = fmt.Errorf("%s leads %s at epoch %d, not at %d: look again before you decide", info.Leader, role,
			info.Epoch, epoch)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	t.before = info
	return t, nil
}

func (t *steerer) close() {
	t.cancel()
	t.s.Close()
}

// explain adds to an error what to do about it.
func (t *steerer) explain(ctx context.Context, err error) error {
	b := t.before
	switch {
	case errors.Is(err, election.ErrWrongEpoch), errors.Is(err, election.ErrNotLeader),
		errors.Is(err, election.ErrUnknownRole), errors.Is(err, election.ErrClosed):
		return cli.ExitWith(cli.ExitFailed, t.refused(ctx, err))
	case errors.Is(err, nats.ErrNoResponders):
		return cli.ExitWith(cli.ExitFailed,
			fmt.Errorf("%s does not answer: if it has crashed, its lease runs out within %s; step-down --force takes the role "+
				"without asking", b.Leader, wording.Age(b.TTL)))
	case errors.Is(err, context.DeadlineExceeded):
		return cli.ExitWith(cli.ExitFailed,
			fmt.Errorf("%s has not answered in time: its work may still drain; watch the role, or see --wait: %w",
				b.Leader, err))
	case errors.Is(err, election.ErrBusy):
		return fmt.Errorf("%s is already being handed over: watch it (rolectl watch %s)", b.Role, b.Role)
	}
	return err
}

// refused explains why the instance that was asked does not lead: another instance may hold the
// record, or the term is over and its work still drains. Only a fresh read of the record tells
// which: the records seen before may be out of date.
func (t *steerer) refused(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.a.Target.Timeout)
	defer cancel()
	b := t.before
	fresh, failed := inventory.OpenRecords(ctx, t.a.Conn, t.a.Reach(), t.a.Bucket, false, nil)
	if failed != nil {
		return fmt.Errorf("%s does not lead %s, and its record cannot be read again: %w", b.Leader, b.Role,
			errors.Join(err, failed))
	}
	defer fresh.Close()
	r, ok := fresh.Record(record.RoleKey(b.Role))
	switch {
	case !ok || r.Form != record.FormRecord || r.Role.Vacant:
		return fmt.Errorf("%s gave up %s while you decided: look again (rolectl roles %s)", b.Leader, b.Role, b.Role)
	case r.Revision != b.Epoch:
		return fmt.Errorf("%s now leads %s at epoch %d: look again before you decide", r.Role.ID, b.Role, r.Revision)
	}
	return fmt.Errorf(
		"%s is still draining its work for %s at epoch %d: wait for it (rolectl watch %s), or take the role without "+
			"waiting (step-down --force)",
		b.Leader, b.Role, b.Epoch, b.Role)
}

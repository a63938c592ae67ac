package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// handover is one change of leader that a user has asked for: what was before, and what came of it.
type handover struct {
	show.Document
	Bucket    string  `json:"bucket"`
	Role      string  `json:"role"`
	From      string  `json:"from"`
	FromEpoch uint64  `json:"from_epoch"`
	To        string  `json:"to"` // "" when nobody had taken it in time
	Epoch     uint64  `json:"epoch,omitempty"`
	Gap       float64 `json:"gap_seconds,omitempty"` // without a leader, by the server's clock
	Forced    bool    `json:"forced,omitempty"`
}

// steering is one command on one role.
type steering struct {
	a       *app
	s       *sight
	before  election.RoleInfo
	patient bool        // wait for a leader also when nobody was in line
	target  string      // whom it is handed to, if anybody
	records chan record // of the role, from the beginning on
	cancel  context.CancelFunc
}

// steer looks at a role that shall be given away, at an epoch (0: whichever). Errors: nobody leads it, another epoch.
func (a *app) steer(ctx context.Context, role string, epoch uint64) (*steering, error) {
	if _, err := a.connect(); err != nil {
		return nil, err
	}
	opening, cancel := context.WithTimeout(ctx, a.target.Timeout)
	defer cancel()
	alive, stop := context.WithCancel(context.Background())
	t := &steering{a: a, records: make(chan record, maxTerms), cancel: stop} // read only once the question was answered
	key := protocol.RoleKey(role)
	var err error
	t.s, err = a.look(opening, false, func(r record) {
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
		err = t.s.unknownRole(role)
	case t.s.role(info).newer:
		err = fmt.Errorf("who leads %s is not known: a later version wrote its record: ask with a rolectl of that version", role)
	case info.Leader == "":
		err = &failure{exitNoLeader, fmt.Errorf("nobody leads %s: there is nothing to give away", role)}
	case epoch != 0 && epoch != info.Epoch:
		err = fmt.Errorf("%s is led by %s at epoch %d, not at %d: look again before you decide", role, info.Leader, info.Epoch, epoch)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	t.before = info
	return t, nil
}

func (t *steering) close() {
	t.cancel()
	t.s.Close()
}

// explain says what to do about an answer.
func (t *steering) explain(ctx context.Context, err error) error {
	b := t.before
	switch {
	case errors.Is(err, election.ErrWrongEpoch), errors.Is(err, election.ErrNotLeader),
		errors.Is(err, election.ErrUnknownRole), errors.Is(err, election.ErrClosed):
		return &failure{exitFailed, t.refused(ctx, err)}
	case errors.Is(err, nats.ErrNoResponders):
		return &failure{exitFailed, fmt.Errorf("%s does not listen: if it is gone its lease runs out within %s; step-down --force takes the role from it without asking", b.Leader, show.Age(b.TTL))}
	case errors.Is(err, context.DeadlineExceeded):
		return &failure{exitFailed, fmt.Errorf("%s has not answered within the time: its work may still drain; watch the role, or see --wait: %w", b.Leader, err)}
	case errors.Is(err, election.ErrBusy):
		return fmt.Errorf("%s is being handed over already: watch it (rolectl watch %s)", b.Role, b.Role)
	}
	return err
}

// refused says why the instance that was asked does not lead: the record may be another's by now, or its term is over while its
// work still drains. Only the record tells the two apart, read anew: what was seen before may be late.
func (t *steering) refused(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), t.a.target.Timeout)
	defer cancel()
	b := t.before
	fresh, failed := openLedger(ctx, t.a.nc, t.a.bucket, false, nil)
	if failed != nil {
		return fmt.Errorf("%s does not lead %s, and the record cannot be read again: %w", b.Leader, b.Role, errors.Join(err, failed))
	}
	defer fresh.Close()
	r, ok := fresh.record(protocol.RoleKey(b.Role))
	switch {
	case !ok || r.Form != protocol.FormRecord || r.Role.Vacant:
		return fmt.Errorf("%s gave %s away while you decided: look again (rolectl roles %s)", b.Leader, b.Role, b.Role)
	case r.Revision != b.Epoch:
		return fmt.Errorf("%s is led by %s at epoch %d by now: look again before you decide", b.Role, r.Role.ID, r.Revision)
	}
	return fmt.Errorf("%s still drains its work for %s at epoch %d: wait for it (rolectl watch %s), or take the role without waiting (step-down --force)",
		b.Leader, b.Role, b.Epoch, b.Role)
}

// result waits until somebody else's term, or a new one of the same instance, has begun, and prints what happened. Where nobody
// was in line, and nobody has come since, it waits only until the role was vacated, unless it is to be patient.
func (t *steering) result(ctx context.Context, forced bool) error {
	h := handover{
		Document: show.Of("handover"), Bucket: t.a.bucket, Role: t.before.Role, From: t.before.Leader,
		FromEpoch: t.before.Epoch, Forced: forced,
	}
	var vacated time.Time
	for h.To == "" {
		select {
		case r := <-t.records:
			switch {
			case r.Revision <= t.before.Epoch || r.Form != protocol.FormRecord:
			case r.Role.Vacant && vacated.IsZero():
				vacated = r.Time
				if !t.patient && t.before.Successor == "" && !t.contended() {
					if err := t.print(h, vacated); err != nil {
						return err
					}
					return &failure{exitNoLeader, fmt.Errorf("nobody has taken %s: nobody is in line for it (rolectl inspect %s)", h.Role, h.Role)}
				}
			case !r.Role.Vacant:
				h.To, h.Epoch = r.Role.ID, r.Revision
				if !vacated.IsZero() {
					h.Gap = show.Seconds(max(r.Time.Sub(vacated), 0))
				}
			}
		case <-t.s.Done():
			return t.s.Err()
		case <-ctx.Done():
			if err := t.print(h, vacated); err != nil {
				return err
			}
			return &failure{exitNoLeader, fmt.Errorf("nobody has taken %s yet: see its candidates with rolectl inspect %s", h.Role, h.Role)}
		}
	}
	if err := t.print(h, vacated); err != nil {
		return err
	}
	if t.target != "" && h.To != t.target {
		return fmt.Errorf("%s did not take %s in time, so %s leads it: see how %s is (rolectl inspect %s)", t.target, h.Role, h.To, t.target, h.Role)
	}
	return nil
}

// contended reports whether anybody but the former leader would take the role.
func (t *steering) contended() bool {
	info, _ := t.s.Role(t.before.Role)
	return slices.ContainsFunc(info.Candidates, func(c election.Candidate) bool { return c.Instance != t.before.Leader })
}

func (t *steering) print(h handover, vacated time.Time) error {
	p := t.a.printer()
	switch p.Format {
	case "json":
		return p.JSON(h)
	case "name":
		return p.Print(show.Table{Rows: []show.Row{{Name: h.To}}})
	}
	var err error
	switch {
	case h.To == "" && vacated.IsZero():
		_, err = fmt.Fprintf(p.W, "%s is still held by %s at epoch %d\n", h.Role, h.From, h.FromEpoch)
	case h.To == "":
		_, err = fmt.Fprintf(p.W, "%s was given away by %s at epoch %d\n", h.Role, h.From, h.FromEpoch)
	case vacated.IsZero():
		_, err = fmt.Fprintf(p.W, "%s leads %s at epoch %d, after %s\n", h.To, h.Role, h.Epoch, h.From)
	default:
		_, err = fmt.Fprintf(p.W, "%s leads %s at epoch %d, after %s and %s without a leader\n",
			h.To, h.Role, h.Epoch, h.From, show.Age(time.Duration(h.Gap*float64(time.Second))))
	}
	return err
}

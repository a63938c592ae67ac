package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// requestPace is how long a control request waits for its answer before it is sent again, under the
// same id: the holder carries it out once and repeats its answer.
const requestPace = 500 * time.Millisecond

// StepDown asks the holder of a role to drain and give the role away, and returns the successor
// that the holder named: "" for nobody, and for a role with Spread, where the loads decide. epoch
// is the epoch of the term; 0 means any. It needs the permission to publish to the holder's control
// subject. Errors: ErrNotLeader when nobody holds it, ErrWrongEpoch, ErrPermission (naming the
// subject), ctx's.
func (o *Observer) StepDown(ctx context.Context, role string, epoch uint64) (successor string, err error) {
	return o.steer(ctx, protocol.Request{Op: protocol.OpStepDown, Role: role, Epoch: epoch})
}

// Transfer asks the holder to hand a role to target. Errors as StepDown, and ErrNotCandidate,
// ErrDeclined, ErrBusy.
func (o *Observer) Transfer(ctx context.Context, role, target string, epoch uint64) error {
	_, err := o.steer(ctx, protocol.Request{Op: protocol.OpTransfer, Role: role, Epoch: epoch, Target: target})
	return err
}

// Pause makes an instance ineligible for a role until Resume; if it leads it steps down.
func (o *Observer) Pause(ctx context.Context, role, instance string) error {
	_, err := o.request(ctx, instance, protocol.Request{Op: protocol.OpPause, Role: role})
	return err
}

// Resume makes an instance eligible again.
func (o *Observer) Resume(ctx context.Context, role, instance string) error {
	_, err := o.request(ctx, instance, protocol.Request{Op: protocol.OpResume, Role: role})
	return err
}

// Evict takes a role from its holder without asking: there is no drain, but leadership stays
// exclusive. The holder stops when it sees the eviction, and successors wait for its whole lease.
// The holder does not claim the role again before its CoolDown has passed as well, even if there is
// no other candidate. Evict writes the role's record by compare-and-swap at epoch, which must be
// given, and needs the permission to write it. Errors: ErrWrongEpoch, ErrPermission, ErrUnproven
// when no answer came.
func (o *Observer) Evict(ctx context.Context, role string, epoch uint64) error {
	info, ok := o.Role(role)
	if !ok || info.Leader == "" {
		return ErrNotLeader
	}
	if epoch == 0 || info.Epoch != epoch {
		return fmt.Errorf("%w: %d", ErrWrongEpoch, info.Epoch)
	}
	w := protocol.Eviction(role, record.Role{ID: info.Leader, TTLms: info.TTL.Milliseconds()}, epoch)
	r, err := o.write(ctx, natskv.Write{Key: w.Key, Value: w.Value, Expect: w.Expect, TTL: w.TTL})
	if r.Outcome == natskv.Refused {
		return ErrWrongEpoch
	}
	return err
}

// steer sends a request to the holder of the role.
func (o *Observer) steer(ctx context.Context, q protocol.Request) (successor string, err error) {
	info, ok := o.Role(q.Role)
	if !ok || info.Leader == "" {
		return "", fmt.Errorf("%w: nobody leads %s", ErrNotLeader, q.Role)
	}
	response, err := o.request(ctx, info.Leader, q)
	return response.Successor, err
}

// request repeats one request until it is answered or ctx ends.
func (o *Observer) request(ctx context.Context, instance string, q protocol.Request) (protocol.Response, error) {
	q.ID = newID()
	for {
		once, cancel := context.WithTimeout(ctx, requestPace)
		response, err := request(once, o.nc, o.bucket, instance, q)
		cancel()
		switch {
		case err == nil && response.OK:
			return response, nil
		case err == nil:
			return response, named(response.Error)
		case ctx.Err() != nil:
			return response, fmt.Errorf("ask %s to %s: %w", instance, q.Op, ctx.Err())
		case errors.Is(err, nats.ErrNoResponders):
			return response, fmt.Errorf("ask %s to %s: nobody answers for that instance: %w", instance, q.Op, err)
		case !errors.Is(err, context.DeadlineExceeded):
			return response, fmt.Errorf("ask %s to %s: %w", instance, q.Op, err)
		}
	}
}

// named turns what another process said into the error of that name, if there is one.
func named(said string) error {
	for inner, outer := range answers {
		if inner.Error() == said {
			return outer
		}
	}
	return fmt.Errorf("election: declined: %s", said)
}

// Steering is what an operator tells all processes about a zone or a role.
type Steering struct {
	// By and Reason say who wants it, and why. They are for people.
	By, Reason string
	// For is after how long the server ends it, so that no clock of a process matters. Default 0: when
	// it is taken back; minimum 1 s.
	For time.Duration
	// Hard, of a zone, keeps its processes also from roles that nobody else could lead.
	Hard bool
}

// These begin the key of what an operator tells.
const (
	steeredZone = "zone."
	steeredRole = "role."
)

// ErrSteered says that somebody else has told something about the same zone or role meanwhile.
var ErrSteered = errors.New("election: somebody else has changed it meanwhile: look again")

// DrainZone has the processes of a zone lead only what nobody elsewhere can, also those that start
// later. Leaders there hand their roles over one after the other. A role with ZonesOnly, or a zone
// that is drained hard, is given up even if nobody else is there. It needs the permission to write
// c.steer.zone.<zone>. Errors: ErrSteered, ErrPermission, ErrUnproven when no answer came.
func (o *Observer) DrainZone(ctx context.Context, zone string, s Steering) error {
	return o.tell(ctx, steeredZone+zone, record.Steer{Drained: true, Hard: s.Hard}, s)
}

// UndrainZone takes DrainZone back. Roles with FailBackAfter return in their time.
func (o *Observer) UndrainZone(ctx context.Context, zone string) error {
	return o.tell(ctx, steeredZone+zone, record.Steer{}, Steering{})
}

// PauseRole has nobody lead a role until ResumeRole. Its leader drains its work and gives it up. It
// needs the permission to write c.steer.role.<role>. Errors as DrainZone.
func (o *Observer) PauseRole(ctx context.Context, role string, s Steering) error {
	return o.tell(ctx, steeredRole+role, record.Steer{Paused: true}, s)
}

// ResumeRole takes PauseRole back.
func (o *Observer) ResumeRole(ctx context.Context, role string) error {
	return o.tell(ctx, steeredRole+role, record.Steer{}, Steering{})
}

// tell writes what an operator tells, or, if that is nothing, removes it.
func (o *Observer) tell(ctx context.Context, name string, rec record.Steer, s Steering) error {
	if !naming.Valid(name) {
		return &ConfigError{"name", fmt.Sprintf("%q cannot be part of a key: %s", name, nameRule)}
	}
	if s.For != 0 && s.For < time.Second {
		return &ConfigError{"For", fmt.Sprintf("%v: use at least 1 s, or 0 for until it is taken back", s.For)}
	}
	rec.V, rec.By, rec.Reason = record.Version, s.By, s.Reason
	now := time.Now()
	if rec.AtMs = now.UnixMilli(); s.For > 0 {
		rec.UntilMs = now.Add(s.For).UnixMilli()
	}
	var expect uint64
	var stands bool
	o.read(func(v *protocol.View, _ record.Instant) { expect, stands = v.SteeredAt(name) })
	w := natskv.Write{Key: record.SteerKey(name), Value: record.Encode(rec), Expect: expect, TTL: s.For}
	if !rec.Drained && !rec.Paused {
		if !stands {
			return nil
		}
		w.Value, w.Delete, w.TTL = nil, true, o.bucket.MaxTTL()
	}
	r, err := o.write(ctx, w)
	if r.Outcome == natskv.Refused && !stands && expect > 0 { // its marker has left
		w.Expect = 0
		r, err = o.write(ctx, w)
	}
	switch {
	case err == nil && r.Outcome == natskv.Refused:
		return ErrSteered
	case err == nil: // the next word need not wait for the watch
		e := record.Decode(w.Key, w.Value, r.Revision, w.Delete, o.bucket.MaxTTL())
		o.read(func(v *protocol.View, now record.Instant) { v.Merge(now, &e, &protocol.News{}) })
	}
	return err
}

// steered is what operators have told all processes and not taken back, zones first, by name.
func steered(v *protocol.View, now record.Instant) (all []Steered) {
	v.Told(func(name string, rec *record.Steer, seen record.Instant) {
		s := Steered{Hard: rec.Hard, By: rec.By, Reason: rec.Reason, Since: time.UnixMilli(rec.AtMs)}
		zone, of := strings.CutPrefix(name, steeredZone)
		role, is := strings.CutPrefix(name, steeredRole)
		switch {
		case of && rec.Drained:
			s.Zone = zone
		case is && rec.Paused:
			s.Role = role
		default:
			return
		}
		if rec.AtMs == 0 {
			s.Since = time.Now().Add(-now.Sub(seen))
		}
		if rec.UntilMs > 0 {
			s.Until = time.UnixMilli(rec.UntilMs)
		}
		all = append(all, s)
	})
	slices.SortFunc(all, func(a, b Steered) int {
		return cmp.Or(strings.Compare(a.Role, b.Role), strings.Compare(a.Zone, b.Zone))
	})
	return all
}

// steeredOf is what operators have told about one zone or role, nil for nothing.
func steeredOf(v *protocol.View, now record.Instant, about, name string) *Steered {
	if name == "" || v.Steered(about+name) == (record.Steer{}) {
		return nil
	}
	all := steered(v, now)
	i := slices.IndexFunc(all, func(s Steered) bool {
		return about == steeredZone && s.Zone == name || about == steeredRole && s.Role == name
	})
	if i < 0 {
		return nil
	}
	return &all[i]
}

// Steered is which zones are drained and which roles are paused for all, zones first, by name.
func (o *Observer) Steered() (all []Steered) {
	o.read(func(v *protocol.View, now record.Instant) { all = steered(v, now) })
	return all
}

// Steered is which zones are drained and which roles are paused for all, zones first, by name; nil
// before Open.
func (s *Session) Steered() (all []Steered) {
	s.query(func(m *protocol.Machine, now record.Now) { all = steered(m.View(), now.Observer) })
	return all
}

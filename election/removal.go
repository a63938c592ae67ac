package election

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// ErrRoleKept says that the record of a role may not be removed. See RoleKeptError.
var ErrRoleKept = errors.New("election: the record of the role is kept")

// KeptReason is why the record of a role is kept.
type KeptReason string

// The reasons.
const (
	KeptLed    KeptReason = "led"    // somebody leads the role, or may do so: its session has not ended
	KeptForced KeptReason = "forced" // it was taken by force: its former leader may not know yet
	KeptRecent KeptReason = "recent" // it is vacant for less than the longest TTL of the bucket
	KeptWanted KeptReason = "wanted" // a live member takes part in it
	// KeptChanged: the record has changed since it was looked at.
	KeptChanged KeptReason = "changed"
)

// RoleKeptError says why the record of a role was not removed, and what to do. It is ErrRoleKept.
type RoleKeptError struct {
	Role   string
	Reason KeptReason
	// By is the instance that leads or wants the role, or has led it; empty if none is known.
	By string
	// Wait is when a role may be removed that is vacant for too short a time, or whose leader's lease
	// is gone for too short a time; 0 if that is not known.
	Wait time.Duration
}

func (e *RoleKeptError) Error() string {
	text := "its record has changed meanwhile: look again"
	switch {
	case e.Reason == KeptLed && e.By == "":
		text = "its record cannot be read or is gone, so somebody may lead it: look at it again later"
	case e.Reason == KeptLed && e.Wait > 0:
		text = fmt.Sprintf("the lease of %s is gone, and it may not know that yet: try again in %v", e.By,
			e.Wait.Round(time.Second))
	case e.Reason == KeptLed:
		text = fmt.Sprintf("%s leads it, or its session has not ended yet: stop the processes that take part in it first; "+
			"the lease of one that has crashed leaves after ten of its TTLs or a minute", e.By)
	case e.Reason == KeptForced:
		text = fmt.Sprintf("it was taken from %s by force, which may not know that yet: try again in %v", e.By,
			e.Wait.Round(time.Second))
	case e.Reason == KeptRecent:
		text = fmt.Sprintf("it was given up only now: try again in %v", e.Wait.Round(time.Second))
	case e.Reason == KeptWanted:
		text = fmt.Sprintf("%s takes part in it: stop that process, or remove the role from its configuration", e.By)
	}
	return "election: " + e.Role + " is kept: " + text
}

func (e *RoleKeptError) Is(target error) bool { return target == ErrRoleKept }

// Remove removes the record of a role at once, which else leaves by itself a day after the last
// term at the latest, unless that one was ended by force. It is refused if a live member takes part
// in the role, and unless one of these holds:
//
//   - The role was given up, or taken by force, and has been vacant for the longest TTL of the
//     bucket. A process that wants it later claims it without a wait.
//   - The session that holds it has ended, or its lease is gone, which has expired then, for the
//     longest TTL. Such a role stays where no member may write it. A process that wants it within
//     two of these waits for a TTL.
//
// Either way epochs continue above those before.
//
// Remove writes the role's record by compare-and-swap, and needs the permission for it. Errors:
// ErrUnknownRole, RoleKeptError, ErrPermission, ErrUnproven when no answer came.
func (o *Observer) Remove(ctx context.Context, role string) error {
	revision, ended, err := o.removable(role)
	if err != nil {
		return err
	}
	longest := o.bucket.MaxTTL()
	rec := record.Role{V: record.Version, TTLms: longest.Milliseconds(), Vacant: true, Reason: "removed"}
	w := natskv.Write{
		Key: record.RoleKey(role), Value: record.Encode(rec), Delete: true, Expect: revision, TTL: longest,
	}
	if ended { // others wait for its leader, of whose end they may know nothing
		w.Value, w.TTL = nil, view.Tombstone(longest)
	}
	r, err := o.write(ctx, w)
	if r.Outcome == natskv.Refused {
		return &RoleKeptError{Role: role, Reason: KeptChanged}
	}
	return err
}

// Removable returns the revision of a role that Remove would remove now, or the error of Remove.
func (o *Observer) Removable(role string) (revision uint64, err error) {
	revision, _, err = o.removable(role)
	return revision, err
}

// removable is Removable, and reports whether the role is held by a session that has ended.
func (o *Observer) removable(role string) (revision uint64, ended bool, err error) {
	o.read(func(v *protocol.View, now record.Instant) {
		r := v.Role(role)
		if r == nil || !known(r) {
			err = fmt.Errorf("%w: %s is not in the bucket", ErrUnknownRole, role)
			return
		}
		kept := &RoleKeptError{Role: role}
		why, by, until := v.Removal(now, r)
		kept.By = by
		switch why {
		case view.Removable, view.RemovalEnded:
			revision, ended = r.Revision, why == view.RemovalEnded
			return
		case view.RemovalForced:
			kept.Reason, kept.Wait = KeptForced, until.Sub(now)
		case view.RemovalRecent:
			kept.Reason, kept.Wait = KeptRecent, until.Sub(now)
		case view.RemovalWanted:
			kept.Reason = KeptWanted
		default:
			kept.Reason = KeptLed
			if until > 0 {
				kept.Wait = until.Sub(now)
			}
		}
		err = kept
	})
	return revision, ended, err
}

// write carries out a conditional write of an operator. Without an answer the error is
// ErrUnproven; one that was refused has none.
func (o *Observer) write(ctx context.Context, w natskv.Write) (natskv.Result, error) {
	writer, err := natskv.NewWriter(o.nc, o.bucket)
	if err != nil {
		return natskv.Result{}, public(err)
	}
	defer writer.Close()
	answered := make(chan natskv.Result, 1)
	writer.Submit(w, watchTimeout, func(r natskv.Result) { answered <- r })
	select {
	case r := <-answered:
		if r.Outcome == natskv.Unknown {
			err := public(r.Err)
			if errors.Is(err, ErrPermission) { // the server has not stored it
				return r, err
			}
			return r, errors.Join(ErrUnproven, err)
		}
		return r, nil
	case <-ctx.Done():
		return natskv.Result{}, ctx.Err()
	}
}

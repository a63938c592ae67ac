package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// Encode checks a definition and makes its record. The same definition always makes the same bytes.
func (r *Recurrence) Encode(name string, maxPayload int64) ([]byte, error) {
	// The id of a tick's task must be a valid name too.
	id := TickID(name, time.Unix(0, 0))
	switch {
	case name == "" || !naming.Valid(name) && len(name) <= maxRecurrence:
		return nil, fmt.Errorf("%w: recurrence %q", taskerr.ErrInvalidName, name)
	case !naming.Valid(id):
		return nil, fmt.Errorf("%w: recurrence %.220q: %d bytes: use %d at most, since its tasks are named %s<name>/<time>",
			taskerr.ErrInvalidName, name, len(name), maxRecurrence, TickPrefix)
	}
	if _, err := parseSchedule(r.Spec, r.Zone, time.Now()); err != nil {
		return nil, fmt.Errorf("%w: %q in zone %q: %w", taskerr.ErrInvalidSpec, r.Spec, r.Zone, err)
	}
	if _, known := catchUps[r.CatchUp]; !known {
		return nil, fmt.Errorf("%w: CatchUp(%q): use CatchUpLatest, CatchUpAll or CatchUpSkip", taskerr.ErrInvalidOption,
			r.CatchUp)
	}
	if fault := r.overlapFault(); fault != "" {
		return nil, fmt.Errorf("%w: Overlap(%q): %s", taskerr.ErrInvalidOption, r.Overlap, fault)
	}
	if r.DefinitionVersion < 0 || r.DefinitionVersion > MaxDefinitionVersion {
		return nil, fmt.Errorf("%w: RecurVersion(%d): use 0 to %d", taskerr.ErrInvalidOption, r.DefinitionVersion,
			MaxDefinitionVersion)
	}
	if fault := CheckFair(r.Fair); fault != "" {
		return nil, fmt.Errorf("%w: FairBy: %s", taskerr.ErrInvalidOption, fault)
	}
	if r.Task.Kind == "" {
		return nil, fmt.Errorf("%w: use NewKind or MakeKind", taskerr.ErrInvalidKind)
	}
	if _, err := r.Task.Encode(); err != nil {
		return nil, fmt.Errorf("%w: %w", taskerr.ErrInvalidOption, err) // the kind was checked when it was made
	}
	if meta, err := json.Marshal(r.Meta); err != nil || len(meta) > MaxMeta {
		return nil, taskerr.TooLarge("headers", len(meta), MaxMeta, "shorten them, or make them part of the input")
	}
	value, err := json.Marshal(r)
	if err != nil {
		return nil, taskerr.Doing(err, "recur %s", name)
	}
	if most := maxPayload - Headroom; int64(len(value)) > most {
		return nil, taskerr.TooLarge("a definition", len(value), most, StoreElsewhere)
	}
	return value, nil
}

// MaxDefinitionVersion is the largest version of a definition.
const MaxDefinitionVersion = 1 << 53 // which every reader of JSON can hold

// place is what the rules of definitions look at.
func (r *Recurrence) place() recurring.Definition {
	return recurring.Definition{
		Version: r.DefinitionVersion, Schedule: r.Spec + "\x00" + r.Zone, Since: r.Since, Phase: r.Phase,
		Paused: r.Paused != nil,
	}
}

// move gives the definition another place.
func (r *Recurrence) move(to recurring.Definition) { r.Since, r.Phase = to.Since.UTC(), to.Phase.UTC() }

// Pause prepares the definition, which was stored at a time, for its place without ticks.
func (r *Recurrence) Pause(stored time.Time, by Steering) {
	r.move(r.place().Pause(stored))
	r.Paused = &by
}

// Resume prepares the definition, which was stored at a time, for its place with ticks again.
func (r *Recurrence) Resume(stored time.Time) {
	r.move(r.place().Resume(stored))
	r.Paused = nil
}

// Start is from when the ticks of a definition count that was stored at a time.
func (r *Recurrence) Start(stored time.Time) time.Time { return r.place().Start(stored) }

// Past is up to when the ticks of a definition are dealt with, which was stored at a time, where
// passed is the last one that was submitted or left out.
func (r *Recurrence) Past(stored, passed, now time.Time) time.Time {
	return r.place().Past(stored, passed, now)
}

// Succeed prepares the definition for the place of another record, which was stored at a time. With
// the same schedule it continues that one: nothing else that is changed drops a tick that is due.
// It is not to be stored if ok is false: then the record is of a definition of a higher version.
func (r *Recurrence) Succeed(earlier []byte, stored time.Time) (ok bool) {
	var before Recurrence
	if json.Unmarshal(earlier, &before) != nil || !before.known() {
		return true
	}
	next, ok := r.place().Over(before.place(), stored)
	r.move(next)
	if r.Paused = nil; next.Paused {
		r.Paused = before.Paused
	}
	return ok
}

// Same reports whether a record has this definition, whatever was before it.
func (r *Recurrence) Same(stored []byte) bool {
	var is Recurrence
	if json.Unmarshal(stored, &is) != nil {
		return false
	}
	is.Since, is.Phase, is.Paused = r.Since, r.Phase, r.Paused
	a, err1 := json.Marshal(r)
	b, err2 := json.Marshal(is)
	return err1 == nil && err2 == nil && bytes.Equal(a, b)
}

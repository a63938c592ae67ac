package record

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
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

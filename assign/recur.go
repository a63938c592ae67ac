package assign

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// Missed says what becomes of the ticks of a recurrence that nobody fired in time, since nobody led.
type Missed string

const (
	// RunLatest fires the last of those that are due, and drops the others, however short a time nobody led.
	RunLatest Missed = missedLatest
	// RunAll fires each of them, the newest 1,000 at most.
	RunAll Missed = missedAll
	// Skip drops all that are late by more than the [Grace], and fires the others.
	Skip Missed = missedSkip
)

// RecurOption changes how a recurrence is treated.
type RecurOption func(*recurRecord)

// InZone names the time zone of the schedule, as the IANA database has it: "Europe/Berlin" (UTC). Where the clock is put
// forward, ticks in the hour that is left out do not come; where it is put back, ticks in the hour that comes twice come twice (as
// github.com/robfig/cron has it).
func InZone(name string) RecurOption { return func(r *recurRecord) { r.Zone = name } }

// OnMissed says what becomes of ticks that were missed (RunLatest).
func OnMissed(m Missed) RecurOption { return func(r *recurRecord) { r.Missed = string(m) } }

// Grace is how late a tick may be fired with [Skip] (1 min). [RunLatest] and [RunAll] do not ask how late a tick is.
func Grace(d time.Duration) RecurOption {
	return func(r *recurRecord) {
		if d <= 0 || d > maxDuration {
			r.Task.refuse("Grace", d, "use a positive duration of 10 years at most")
			return
		}
		r.Grace = milliseconds(d)
	}
}

// RecurWith changes what the kind says, for the tasks of the recurrence.
func RecurWith(opts ...KindOption) RecurOption {
	return func(r *recurRecord) { r.Task.apply("RecurWith", opts) }
}

// RecurHeader is [WithHeader] for the tasks of the recurrence.
func RecurHeader(name, value string) RecurOption {
	return func(r *recurRecord) {
		meta := maps.Clone(r.Meta)
		if meta == nil {
			meta = map[string]string{}
		}
		meta[name] = value
		r.Meta = meta
		if fault := checkHeader(name, value); fault != "" {
			r.Task.faults = append(slices.Clip(r.Task.faults), "RecurHeader: "+fault)
		}
	}
}

const defaultGrace = time.Minute

// Recur has a task submitted at each tick of a schedule, by whoever leads: spec is a cron expression of five fields (minute,
// hour, day of month, month, day of week), or a word such as @daily or @every 10m, of whole seconds. The task of a tick is "cron/<name>/<tick in
// UTC, as 20060102T150405Z>"; a tick is submitted once, whoever leads and however often the leader changes. Ticks count from when the
// definition was stored.
//
// The definition is stored under name, of at most 178 bytes, and needs no leader. A program may call Recur whenever it starts:
// the same definition is not written again. A different one takes its place, and its ticks count from then on; programs of two
// versions that both call it take turns.
//
// Errors: ErrInvalidName, ErrInvalidSpec (also for a schedule of which no tick comes within five years), ErrInvalidOption,
// ErrInvalidKind, ErrTooLarge, ErrNoClient, ErrClosed, the encoder's, permanent faults of the connection, ctx's: then it may be
// stored or not.
func Recur[In, Out any](ctx context.Context, in Submitter, k Kind[In, Out], name, spec string, input In, opts ...RecurOption) error {
	data, err := encode(input)
	if err != nil {
		return failed(err, "recur %s", name)
	}
	r := recurRecord{
		Version: 1, Spec: spec, Zone: "UTC", Missed: string(RunLatest), Grace: defaultGrace.Milliseconds(), Task: k.policy, Input: data,
	}
	for i, o := range opts {
		if o == nil {
			r.Task.refuse("Recur", fmt.Sprintf("option %d", i), "it is nil: leave it out")
			continue
		}
		o(&r)
	}
	c, l, err := openedAtLast(ctx, in)
	if err != nil {
		return err
	}
	value, err := r.encode(name, l.most.Load())
	if err != nil {
		return err
	}
	err = c.replace(ctx, l, recurKey+name, func(e natskv.Entry) (*natskv.Write, error) {
		if bytes.Equal(e.Value, value) {
			return nil, nil // also ours, when its acknowledgement was lost
		}
		return &natskv.Write{Value: value}, nil
	})
	return failed(c.offline(err), "recur %s", name)
}

// encode checks a definition and makes its record: the same one always makes the same bytes.
func (r *recurRecord) encode(name string, maxPayload int64) ([]byte, error) {
	// The id of a tick's task is to be a name too.
	id := tickID(name, time.Unix(0, 0))
	switch {
	case name == "" || !protocol.ValidName(name) && len(name) <= maxRecurrence:
		return nil, fmt.Errorf("%w: recurrence %q", ErrInvalidName, name)
	case !protocol.ValidName(id):
		return nil, fmt.Errorf("%w: recurrence %.220q: %d bytes: use %d at most, since its tasks are named %s<name>/<time>",
			ErrInvalidName, name, len(name), maxRecurrence, tickPrefix)
	}
	if _, err := parseSchedule(r.Spec, r.Zone, time.Now()); err != nil {
		return nil, fmt.Errorf("%w: %q in zone %q: %w", ErrInvalidSpec, r.Spec, r.Zone, err)
	}
	if _, known := missed[r.Missed]; !known {
		return nil, fmt.Errorf("%w: OnMissed(%q): use RunLatest, RunAll or Skip", ErrInvalidOption, r.Missed)
	}
	if r.Task.Kind == "" {
		return nil, fmt.Errorf("%w: use NewKind or MakeKind", ErrInvalidKind)
	}
	if _, err := r.Task.encode(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidOption, err) // the kind was checked when it was made
	}
	if meta, err := json.Marshal(r.Meta); err != nil || len(meta) > maxMeta {
		return nil, tooLarge("headers", len(meta), maxMeta, "shorten them, or make them part of the input")
	}
	value, err := json.Marshal(r)
	if err != nil {
		return nil, failed(err, "recur %s", name)
	}
	if most := maxPayload - headroom; int64(len(value)) > most {
		return nil, tooLarge("a definition", len(value), most, storeElsewhere)
	}
	return value, nil
}

// Unrecur removes a recurrence; tasks that it has submitted go on. Errors: ErrRecurrenceNotFound, and those of Recur.
func Unrecur(ctx context.Context, in Submitter, name string) error {
	if !protocol.ValidName(name) {
		return fmt.Errorf("%w: recurrence %q", ErrInvalidName, name)
	}
	c, l, err := openedAtLast(ctx, in)
	if err != nil {
		return err
	}
	tried := false
	err = c.replace(ctx, l, recurKey+name, func(e natskv.Entry) (*natskv.Write, error) {
		switch {
		case len(e.Value) > 0:
			tried = true
			return &natskv.Write{TTL: removedFor}, nil
		case tried: // it is gone, by us when our acknowledgement was lost
			return nil, nil
		}
		return nil, ErrRecurrenceNotFound
	})
	return failed(c.offline(err), "unrecur %s", name)
}

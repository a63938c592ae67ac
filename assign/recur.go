package assign

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// CatchUpPolicy says what happens to the ticks of a recurrence that were not fired in time, because
// nobody led.
type CatchUpPolicy string

const (
	// CatchUpLatest fires the last of the ticks that are due, and drops the others, however short
	// the time without a leader was.
	CatchUpLatest CatchUpPolicy = record.CatchUpLatest
	// CatchUpAll fires each of the ticks, the newest 1,000 at most.
	CatchUpAll CatchUpPolicy = record.CatchUpAll
	// CatchUpSkip drops all ticks that are late by more than the [CatchUpWindow], and fires the
	// others.
	CatchUpSkip CatchUpPolicy = record.CatchUpSkip
)

// RecurOption changes how a recurrence is treated.
type RecurOption func(*record.Recurrence)

// InZone names the time zone of the schedule by its IANA name, such as "Europe/Berlin". Default
// UTC. When the clock is put forward, ticks in the hour that is left out do not fire. When it is
// put back, ticks in the hour that comes twice fire twice (as github.com/robfig/cron does).
func InZone(name string) RecurOption { return func(r *record.Recurrence) { r.Zone = name } }

// CatchUp says what happens to ticks that were not fired in time. Default CatchUpLatest.
func CatchUp(m CatchUpPolicy) RecurOption {
	return func(r *record.Recurrence) { r.CatchUp = string(m) }
}

// CatchUpWindow is how late a tick may be fired with [CatchUpSkip]. Default 1 min. [CatchUpLatest]
// and [CatchUpAll] do not ask how late a tick is.
func CatchUpWindow(d time.Duration) RecurOption {
	return func(r *record.Recurrence) {
		if d <= 0 || d > record.MaxDuration {
			r.Task.Refuse("CatchUpWindow", d, "use a positive duration of 10 years at most")
			return
		}
		r.Window = record.Milliseconds(d)
	}
}

// OverlapPolicy says what becomes of a tick that is due while a task of the recurrence is open.
type OverlapPolicy string

const (
	// OverlapAllow submits the task beside the open one.
	OverlapAllow OverlapPolicy = "allow"
	// OverlapSkip leaves the tick out, for good: it is never caught up with.
	OverlapSkip OverlapPolicy = record.OverlapSkip
	// OverlapQueue has the tick wait until no task of the recurrence is open. Then it counts as one
	// that nobody fired in time, see [CatchUp]: with [CatchUpLatest] one task follows for all that
	// wait, with [CatchUpAll] one for each.
	OverlapQueue OverlapPolicy = record.OverlapQueue
	// OverlapCancelRunning cancels the open tasks with the cause "overlap", and submits the task of
	// the tick once their ends are stored. A handler that does not return when its context ends may
	// still run beside the next one.
	OverlapCancelRunning OverlapPolicy = record.OverlapCancel
)

// Overlap says what becomes of a tick that is due while a task of the recurrence is open. Default
// OverlapAllow. The rule holds whichever process leads. A task is open from its submission to its
// outcome, through all attempts and also while its kind is paused; one that is requeued is open
// again. Tasks of [RunRecurrence] and [BackfillRecurrence] count too; the rule does not hold them
// back themselves. OverlapSkip and OverlapCancelRunning cannot be combined with CatchUpAll.
//
// A scheduler of a version that does not know this option fires no ticks of the recurrence.
func Overlap(p OverlapPolicy) RecurOption {
	return func(r *record.Recurrence) {
		if p == OverlapAllow {
			p = record.OverlapAllow
		}
		r.SetOverlap(string(p))
	}
}

// RecurWith changes the options of the kind for the tasks of the recurrence.
func RecurWith(opts ...KindOption) RecurOption {
	return func(r *record.Recurrence) { treat(&r.Task, "RecurWith", opts) }
}

// RecurHeader is [WithHeader] for the tasks of the recurrence.
func RecurHeader(name, value string) RecurOption {
	return func(r *record.Recurrence) {
		meta := maps.Clone(r.Meta)
		if meta == nil {
			meta = map[string]string{}
		}
		meta[name] = value
		r.Meta = meta
		if fault := record.CheckHeader(name, value); fault != "" {
			r.Task.Faults = append(slices.Clip(r.Task.Faults), "RecurHeader: "+fault)
		}
	}
}

// RecurVersion is the version of the definition, 0 to 2^53. Default 0. A definition never replaces
// one of a higher version: so a program of an earlier release that starts again during a deploy
// does not undo the later one. Of two definitions of one version the last one is stored.
func RecurVersion(n int) RecurOption {
	return func(r *record.Recurrence) { r.DefinitionVersion = n }
}

const defaultCatchUpWindow = time.Minute

// Recur has the leader submit a task at each tick of a schedule. spec is a cron expression of five
// fields (minute, hour, day of month, month, day of week), or a word such as @daily or @every 10m,
// of whole seconds. The task of a tick is "cron/<name>/<tick in UTC, as 20060102T150405Z>". A tick
// is submitted once, whichever process leads and however often the leader changes. Ticks count from
// when the definition was stored.
//
// The definition is stored under name, of at most 178 bytes, and needs no leader. A program may
// call Recur whenever it starts: the same definition is not written again. A different definition
// replaces the stored one, unless that has a higher [RecurVersion]: then Recur changes nothing and
// returns nil. With the same schedule and zone it continues: ticks that are due are fired as its
// CatchUp says. With another schedule its ticks count from then on. One that is paused stays
// paused, see [PauseRecurrence].
//
// Errors: ErrInvalidName, ErrInvalidSpec (also for a schedule that has no tick within five years),
// ErrInvalidOption, ErrInvalidKind, ErrTooLarge, ErrNoClient, ErrClosed, the encoder's, permanent
// faults of the connection, ctx's: then the definition may be stored or not.
func Recur[In, Out any](ctx context.Context, in Submitter, k Kind[In, Out], name, spec string, input In,
	opts ...RecurOption,
) error {
	data, err := encode(input)
	if err != nil {
		return taskerr.Doing(err, "recur %s", name)
	}
	r := record.Recurrence{
		Version: 1, Spec: spec, Zone: "UTC", CatchUp: string(CatchUpLatest), Window: defaultCatchUpWindow.Milliseconds(),
		Task: k.policy, Input: data,
	}
	for i, o := range opts {
		if o == nil {
			r.Task.Refuse("Recur", fmt.Sprintf("option %d", i), "it is nil: leave it out")
			continue
		}
		o(&r)
	}
	if key, err := fairKey[In](&r.Task); err != nil {
		return taskerr.Doing(fmt.Errorf("%w: %w", ErrInvalidOption, err), "recur %s", name)
	} else if key != nil {
		r.Fair = key(input)
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return err
	}
	return c.Define(ctx, name, &r)
}

package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // a definition's zone must be known wherever the scheduler runs

	"github.com/robfig/cron/v3"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// Recurring is the submission that a recurrence makes at each tick.
type Recurring struct {
	Header []natskv.Field
	Input  []byte
}

// Words of a stored Recurrence for the treatment of missed ticks.
const (
	CatchUpLatest = "latest"
	CatchUpAll    = "all"
	CatchUpSkip   = "skip"
)

var catchUps = map[string]recurring.CatchUp{
	CatchUpLatest: recurring.CatchUpLatest, CatchUpAll: recurring.CatchUpAll, CatchUpSkip: recurring.CatchUpSkip,
}

const maxSpec = 256 // bytes

var fields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)

// parseSchedule reads a cron expression of five fields, or a word such as @daily or @every 10m, in
// a zone of the IANA database ("" is UTC). When the clock is put forward, ticks that fall into the
// gap are left out. When it is put back, those of the hour that comes twice come twice (as
// github.com/robfig/cron does). since is when the expression was stored.
//
// The result depends on nothing else, so that every scheduler finds the same ticks.
func parseSchedule(spec, zone string, since time.Time) (recurring.Schedule, error) {
	switch {
	case len(spec) > maxSpec:
		return nil, fmt.Errorf("an expression of %d bytes: use %d at most", len(spec), maxSpec)
	case strings.Contains(spec, "TZ="):
		return nil, errors.New("a time zone in the expression: name it beside it")
	case zone == "Local":
		return nil, errors.New("zone Local is another one for each scheduler: name it")
	}
	where, err := time.LoadLocation(zone)
	if err != nil {
		return nil, err
	}
	s, err := fields.Parse(sundays(spec))
	if err != nil {
		return nil, err
	}
	switch s := s.(type) {
	case cron.ConstantDelaySchedule:
		if d, err := time.ParseDuration(strings.TrimPrefix(spec, "@every ")); err != nil || d < time.Second || d != s.Delay {
			// robfig/cron would make it every second
			return nil, errors.New("the time between two ticks: use whole seconds, 1s at least")
		}
		return every{since.Truncate(time.Second), s.Delay}, nil
	case *cron.SpecSchedule:
		s.Location = where
		if s.Next(since).IsZero() {
			return nil, errors.New("it does not come within five years: is there such a day?")
		}
		return s, nil
	}
	return nil, fmt.Errorf("no schedule in %q", spec)
}

// sundays writes 7, another number of Sunday, as 0 in the days of the week: robfig/cron knows 0
// alone. The parser is left to refuse everything else.
func sundays(spec string) string {
	f := strings.Fields(spec)
	if len(f) != 5 || !strings.Contains(f[4], "7") {
		return spec
	}
	parts := strings.Split(f[4], ",")
	for i, part := range parts {
		days, step, stepped := strings.Cut(part, "/")
		first, last, ranged := strings.Cut(days, "-")
		switch {
		case days == "7" && !stepped:
			parts[i] = "0"
		case ranged && last == "7":
			from, err1 := strconv.Atoi(first)
			by, err2 := strconv.Atoi(cmp.Or(step, "1"))
			if err1 != nil || err2 != nil || by < 1 || from < 0 || from > 7 {
				return spec
			}
			var each []string
			for day := from; day <= 7; day += by {
				each = append(each, strconv.Itoa(day%7))
			}
			parts[i] = strings.Join(each, ",")
		}
	}
	f[4] = strings.Join(parts, ",")
	return strings.Join(f, " ")
}

// every is a series of moments at a fixed distance from each other, counted from when the
// definition was stored. However late one is fired, and by any scheduler, the next one stays where
// it was.
type every struct {
	since time.Time
	step  time.Duration // whole seconds
}

// Next also continues before since, because a clock may have been wrong when the definition was
// stored. A scheduler that fires ticks begins at since. Next counts in seconds: a Duration ends
// after 292 years, and a record may name any year.
func (e every) Next(t time.Time) time.Time {
	step := int64(e.step / time.Second)
	since := t.Unix() - e.since.Unix()
	n := since / step
	if since%step < 0 {
		n--
	}
	return time.Unix(e.since.Unix()+(n+1)*step, 0).In(e.since.Location())
}

// Definition is a recurrence as its record has it.
type Definition struct {
	Recurrence
	Schedule   recurring.Schedule
	TaskHeader string // of its submissions
	metaHeader string // likewise, "" for none
}

// ReadDefinition reads the record of a recurrence; most is the size of the largest message. It does
// not check the policy of the tasks: the reader of the policy does. With an error it returns the
// parts that could be read.
func ReadDefinition(name string, e *natskv.Entry, most int64) (d Definition, err error) {
	var r Recurrence
	if err := json.Unmarshal(e.Value, &r); err != nil {
		return d, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	d.Recurrence = r
	if _, known := catchUps[r.CatchUp]; !r.known() || r.Task.Version != 1 || !known {
		return d, ErrRecord
	}
	if !naming.Valid(TickID(name, e.Time)) {
		return d, fmt.Errorf("a name of %d bytes is too long for the ids of its tasks", len(name))
	}
	if most := int64(MaxDuration / time.Millisecond); r.Window < 0 || r.Window > most {
		return d, fmt.Errorf("the catch-up window is not within %v", MaxDuration)
	}
	if int64(len(r.Input)) > most-Headroom {
		return d, fmt.Errorf("an input of %d bytes", len(r.Input))
	}
	if d.Schedule, err = parseSchedule(r.Spec, r.Zone, r.place().Anchor(e.Time)); err != nil {
		return d, err
	}
	text, err := json.Marshal(r.Task)
	if err != nil {
		return d, err
	}
	d.TaskHeader = string(text)
	if len(r.Meta) > 0 {
		meta, err := json.Marshal(r.Meta)
		if err != nil {
			return d, err
		}
		if len(meta) > 2*MaxMeta {
			return d, fmt.Errorf("headers of %d bytes", len(meta))
		}
		d.metaHeader = string(meta)
	}
	return d, nil
}

// Ticks are those from a moment up to another one, limit of them at most, and the first that is
// left.
func (d *Definition) Ticks(from, to time.Time, limit int) (list []time.Time, next time.Time) {
	return recurring.Between(d.Schedule, from, to, limit)
}

// Header is that of the submissions of a recurrence.
func (d *Definition) Header() []natskv.Field {
	header := []natskv.Field{{Name: HeaderTask, Value: d.TaskHeader}}
	if d.metaHeader != "" {
		header = append(header, natskv.Field{Name: HeaderMeta, Value: d.metaHeader})
	}
	if d.Fair != "" {
		if keys, err := json.Marshal(Keys{Fair: d.Fair}); err == nil { // a text can always be encoded
			header = append(header, natskv.Field{Name: HeaderKeys, Value: string(keys)})
		}
	}
	return header
}

// With makes the recurrence for the state.
func (d *Definition) With(name string, policy *tasks.Policy) *tasks.Recurrence {
	return &tasks.Recurrence{
		Name: name, Policy: policy, Body: &Recurring{d.Header(), d.Input},
		Plan: recurring.Plan{
			Schedule: d.Schedule, CatchUp: catchUps[d.CatchUp], Window: time.Duration(d.Window) * time.Millisecond,
			Paused: d.Paused != nil, Overlap: overlaps[d.Overlap],
		},
	}
}

package assign

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/client"
	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/seconds"
)

// Recurrence is a definition as it is stored, with its last and its next tick.
type Recurrence struct {
	Name          string        `json:"name"`
	Kind          string        `json:"kind"`
	Spec          string        `json:"spec"`
	Zone          string        `json:"zone"`
	CatchUp       CatchUpPolicy `json:"catch_up"`
	CatchUpWindow time.Duration `json:"-"`
	// Overlap says what becomes of a tick that is due while a task of the recurrence is open.
	Overlap OverlapPolicy `json:"overlap"`
	// Version is the [RecurVersion] of the definition.
	Version int `json:"version,omitempty"`
	// Since is when the definition was stored.
	Since time.Time `json:"since"`
	// Last is the last tick that was submitted, zero for none. Next is the tick to submit next.
	// Next lies in the past while nobody leads, and while [OverlapQueue] or [OverlapCancelRunning] has
	// it wait.
	Last time.Time `json:"last,omitzero"`
	Next time.Time `json:"next,omitzero"`
	// Due is how many ticks, from Next on, have come by the clock of this process and were not
	// submitted, 1,000 at most. It is above 0 for as long as Next lies in the past.
	Due int `json:"due,omitempty"`
	// Paused says that it does not fire. PauseReason is for people. Next is zero meanwhile.
	Paused      bool   `json:"paused,omitempty"`
	PauseReason string `json:"pause_reason,omitempty"`
	// Error says why schedulers ignore the definition, "" if they do not.
	Error string `json:"error,omitempty"`
}

// RecurrenceListOptions say which recurrences to list.
type RecurrenceListOptions struct {
	// Prefix begins the names.
	Prefix string
	// Limit is how many recurrences a page holds at most. Default 100, maximum 500.
	Limit int
	// Cursor is "" for the first page, then the Next of the page before.
	Cursor string
}

// RecurrencePage is one page of recurrences. It may hold fewer than Limit, even none, though Next
// is not "": the cost of one page is bounded, however few names match.
type RecurrencePage struct {
	Recurrences []Recurrence `json:"recurrences"`
	Next        string       `json:"next,omitempty"` // "" for the last page
}

// ListRecurrences lists the recurrences that are defined, page by page, in the order in which they
// were defined or changed last. It needs no leader. A recurrence that is changed while its pages
// are being listed may be listed twice.
//
// Errors: ErrInvalidCursor, ErrInvalidOption, ErrClosed, the connection's, ctx's.
func ListRecurrences(ctx context.Context, in Submitter, o RecurrenceListOptions) (RecurrencePage, error) {
	if o.Limit == 0 {
		o.Limit = defaultPage
	}
	if o.Limit < 1 || o.Limit > control.MaxPage {
		return RecurrencePage{}, fmt.Errorf("%w: Limit %d: use 1 to %d", ErrInvalidOption, o.Limit, control.MaxPage)
	}
	if err := client.CheckRecurCursor(o.Cursor); err != nil {
		return RecurrencePage{}, err
	}
	c, err := clientOf(ctx, in)
	if err != nil {
		return RecurrencePage{}, err
	}
	page, err := c.Recurrences(ctx, o.Prefix, o.Limit, o.Cursor)
	if err != nil {
		return RecurrencePage{}, err
	}
	list := RecurrencePage{Recurrences: make([]Recurrence, 0, len(page.Recurrences)), Next: page.Next}
	for i := range page.Recurrences {
		list.Recurrences = append(list.Recurrences, recurrenceFrom(&page.Recurrences[i]))
	}
	return list, nil
}

// GetRecurrence returns the recurrence of a name. Errors: ErrInvalidName, ErrRecurrenceNotFound,
// ErrClosed, the connection's, ctx's.
func GetRecurrence(ctx context.Context, in Submitter, name string) (Recurrence, error) {
	c, err := recurrenceClient(ctx, in, name)
	if err != nil {
		return Recurrence{}, err
	}
	stored, err := c.Recurrence(ctx, name)
	if err != nil {
		return Recurrence{}, err
	}
	return recurrenceFrom(&stored), nil
}

// recurrenceFrom is a recurrence for users.
func recurrenceFrom(s *client.Recurrence) Recurrence {
	d := &s.Definition
	r := Recurrence{
		Name: s.Name, Kind: d.Task.Kind, Spec: d.Spec, Zone: d.Zone, CatchUp: CatchUpPolicy(d.CatchUp), Since: s.Since,
		Version: d.DefinitionVersion, Last: s.Last, Next: s.Next, Due: s.Due, Overlap: OverlapAllow,
	}
	if d.Overlap != record.OverlapAllow {
		r.Overlap = OverlapPolicy(d.Overlap)
	}
	if d.Paused != nil {
		r.Paused, r.PauseReason = true, d.Paused.Reason
	}
	if s.Err != nil {
		r.Error = s.Err.Error()
	} else {
		r.CatchUpWindow = time.Duration(d.Window) * time.Millisecond
	}
	return r
}

// PauseRecurrence stops a recurrence from firing until [ResumeRecurrence]. Tasks that it has
// submitted continue. The pause is stored, needs no leader, and outlives every leader and every
// [Recur] with another definition. It returns nil if the recurrence is paused already: the first
// reason stays. reason is for people, 4 KiB at most.
//
// Errors: ErrInvalidName, ErrRecurrenceNotFound, ErrTooLarge, ErrClosed, an error if the definition
// cannot be read, permanent faults of the connection, ctx's: then the pause may be stored or not.
func PauseRecurrence(ctx context.Context, in Submitter, name, reason string) error {
	if len(reason) > record.MaxMeta {
		return taskerr.TooLarge("a reason", len(reason), record.MaxMeta, "shorten it")
	}
	c, err := recurrenceClient(ctx, in, name)
	if err != nil {
		return err
	}
	return c.PauseRecurrence(ctx, name, reason)
}

// ResumeRecurrence ends [PauseRecurrence]. Ticks count from then on: those that came during the
// pause are not caught up with, also with [CatchUpAll]. Those of "@every" stay where they would
// have been without the pause. It returns nil if the recurrence is not paused. Errors are those of
// PauseRecurrence.
func ResumeRecurrence(ctx context.Context, in Submitter, name string) error {
	c, err := recurrenceClient(ctx, in, name)
	if err != nil {
		return err
	}
	return c.ResumeRecurrence(ctx, name)
}

// RunRecurrence submits the task of a recurrence now, also of one that is paused, and returns its
// id: "cron/<name>/run-" and 12 more characters. No tick is moved or dropped by that. It needs no
// leader. With [Find] you can wait for the task. Errors are those of PauseRecurrence; after the end
// of ctx the task may be stored or not.
func RunRecurrence(ctx context.Context, in Submitter, name string) (id string, err error) {
	c, err := recurrenceClient(ctx, in, name)
	if err != nil {
		return "", err
	}
	return c.RunRecurrence(ctx, name)
}

// BackfillOptions say which ticks of a recurrence to submit.
type BackfillOptions struct {
	// From and To are the first and the last moment. Both are required, and ticks at either count.
	From, To time.Time
	// Limit is how many ticks are dealt with at most. Default and maximum 1,000.
	Limit int
	// DryRun submits nothing: the result says what would be submitted.
	DryRun bool
}

// BackfillResult says what a [BackfillRecurrence] has done.
type BackfillResult struct {
	// Submitted are the ids of the tasks that were submitted, in the order of their ticks. Existing
	// are those that were there, open or ended.
	Submitted []string `json:"submitted"`
	Existing  []string `json:"existing"`
	// Until is To, or an earlier moment: ticks after it are left to the scheduler.
	Until time.Time `json:"until"`
	// Next is the first tick that is left up to Until, zero for none. Give it as From to continue.
	Next time.Time `json:"next,omitzero"`
}

const maxBackfill = 1000

// BackfillRecurrence submits the tasks of past ticks of a recurrence, by its present schedule and
// with its present input: those that were dropped, skipped, fell into a pause, or lie before the
// definition. It needs no leader, and may be called again: the task of a tick has one id, so a tick
// whose task is open, or whose outcome is kept, is not submitted again. Once an outcome has left,
// after its [Retention], nothing tells that the tick has run.
//
// Ticks that the scheduler may still submit are left to it: those after the last one that it has
// submitted or left out, unless the recurrence is paused. Its own next tick is not moved.
//
// Without an [Overlap] the tasks run as others do. With one they run one after the other, behind
// the last task of a tick if that is open, and their outcomes are kept for an hour at least. All of
// them count as open meanwhile, so the scheduler's ticks are skipped, wait or cancel them, as the
// recurrence says.
//
// With an error the result says what is known to be done. Errors: ErrInvalidOption, and those of
// [PauseRecurrence].
func BackfillRecurrence(ctx context.Context, in Submitter, name string, o BackfillOptions) (BackfillResult, error) {
	if o.Limit == 0 {
		o.Limit = maxBackfill
	}
	switch {
	case o.Limit < 1 || o.Limit > maxBackfill:
		return BackfillResult{}, fmt.Errorf("%w: Limit %d: use 1 to %d, and continue with Next", ErrInvalidOption, o.Limit,
			maxBackfill)
	case o.From.IsZero() || o.To.IsZero():
		return BackfillResult{}, fmt.Errorf("%w: From and To are required", ErrInvalidOption)
	case o.To.Before(o.From):
		return BackfillResult{}, fmt.Errorf("%w: To %v is before From %v", ErrInvalidOption, o.To, o.From)
	}
	c, err := recurrenceClient(ctx, in, name)
	if err != nil {
		return BackfillResult{}, err
	}
	b, err := c.BackfillRecurrence(ctx, name, client.Range{From: o.From, To: o.To, Limit: o.Limit, Dry: o.DryRun})
	return BackfillResult{b.Submitted, b.Existing, b.Until, b.Next}, err
}

// RemoveRecurrence removes a recurrence. Tasks that it has submitted continue. Errors:
// ErrRecurrenceNotFound, and those of Recur.
func RemoveRecurrence(ctx context.Context, in Submitter, name string) error {
	c, err := recurrenceClient(ctx, in, name)
	if err != nil {
		return err
	}
	return c.Undefine(ctx, name)
}

// recurrenceClient is the client for something that is done to a recurrence.
func recurrenceClient(ctx context.Context, in Submitter, name string) (*client.Client, error) {
	if !naming.Valid(name) {
		return nil, fmt.Errorf("%w: recurrence %q", ErrInvalidName, name)
	}
	return clientOf(ctx, in)
}

// plainRecurrence has no methods: its fields are encoded beside those in seconds.
type plainRecurrence Recurrence

// MarshalJSON writes CatchUpWindow as the number catch_up_window_seconds.
func (r Recurrence) MarshalJSON() ([]byte, error) { return json.Marshal(r.shape()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Recurrence) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, r.shape()) }

func (r *Recurrence) shape() any {
	return &struct {
		*plainRecurrence
		CatchUpWindow *seconds.Duration `json:"catch_up_window_seconds"`
	}{(*plainRecurrence)(r), (*seconds.Duration)(&r.CatchUpWindow)}
}

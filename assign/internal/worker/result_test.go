package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

func TestEndOf(t *testing.T) {
	under := func(cause error) context.Context {
		ctx, cancel := context.WithCancelCause(context.Background())
		if cause != nil {
			cancel(cause)
		}
		t.Cleanup(func() { cancel(nil) })
		return ctx
	}
	err := errors.New("why")
	for _, tt := range []struct {
		cause, err error
		want       taskerr.End
		verb       tasks.Verb
	}{
		{nil, nil, taskerr.EndSucceeded, tasks.Succeeded},
		{taskerr.ErrTimeout, nil, taskerr.EndSucceeded, tasks.Succeeded}, // in time or not: it is done
		{taskerr.ErrDraining, nil, taskerr.EndSucceeded, tasks.Succeeded},
		{nil, err, taskerr.EndFailed, tasks.Failed},
		{taskerr.ErrTimeout, err, taskerr.EndFailed, tasks.Failed},
		{nil, taskerr.RetryAfter(time.Second, err), taskerr.EndFailed, tasks.Failed},
		{nil, fmt.Errorf("wrapped: %w", taskerr.Permanent(err)), taskerr.EndPermanent, tasks.Permanent},
		{nil, taskerr.Snooze(time.Second), taskerr.EndSnoozed, tasks.Snoozed},
		{taskerr.ErrDraining, err, taskerr.EndReleased, tasks.Released},
		{taskerr.ErrDraining, taskerr.Permanent(err), taskerr.EndReleased, tasks.Released},
		{taskerr.ErrSessionLost, nil, taskerr.EndDropped, tasks.Succeeded},
		{taskerr.ErrStopped, err, taskerr.EndDropped, tasks.Failed},
	} {
		ctx := under(tt.cause)
		if got := taskerr.EndOf(ctx, tt.err); got != tt.want {
			t.Errorf("%v, %v: %s, want %s", tt.cause, tt.err, got, tt.want)
		}
		if got := attemptResult(ctx, nil, tt.err).Verb; got != tt.verb {
			t.Errorf("%v, %v: reported as %v, want %v", tt.cause, tt.err, got, tt.verb)
		}
	}
}

// TestDelaysAreBounded: what a handler asks for neither loops without a pause nor overflows when it
// is added to a time, and survives the note that keeps it.
func TestDelaysAreBounded(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for asked, want := range map[time.Duration]struct{ snooze, retry time.Duration }{
		0:               {100 * time.Millisecond, time.Millisecond},
		-time.Hour:      {100 * time.Millisecond, time.Millisecond},
		math.MinInt64:   {100 * time.Millisecond, time.Millisecond},
		time.Nanosecond: {100 * time.Millisecond, time.Millisecond},
		time.Minute:     {time.Minute, time.Minute},
		year:            {year, year},
		100 * year:      {10 * year, 10 * year},
		math.MaxInt64:   {10 * year, 10 * year},
	} {
		for name, tt := range map[string]struct {
			err  error
			want time.Duration
		}{"Snooze": {taskerr.Snooze(asked), want.snooze}, "RetryAfter": {
			taskerr.RetryAfter(asked, errors.New("why")),
			want.retry,
		}} {
			f := attemptResult(t.Context(), nil, tt.err)
			_, _, _, sent, err := frame.DecodeReport(frame.EncodeReport("w", 1, 1, []frame.Finding{f}))
			if err != nil || len(sent) != 1 || time.Duration(sent[0].Delay) != tt.want {
				t.Errorf("%s(%v): reported as %v, %v; want %v", name, asked, sent, err, tt.want)
				continue
			}
			data, err := record.EncodeNote(tasks.Retry{
				Attempt: tasks.Attempt{Epoch: 1, N: 1},
				Wait:    time.Duration(sent[0].Delay),
			})
			if err != nil {
				t.Fatal(err)
			}
			note, err := record.DecodeNote(data)
			if err != nil || note.Wait != tt.want {
				t.Errorf("%s(%v): noted as %v, %v; want %v", name, asked, note.Wait, err, tt.want)
			}
			if now := time.Now(); !now.Add(note.Wait).After(now) {
				t.Errorf("%s(%v): due in the past", name, asked)
			}
		}
	}
}

// TestAnErrorThatCannotBeRead: a nil pointer to an error type is not a nil error, and most of its
// methods panic.
func TestAnErrorThatCannotBeRead(t *testing.T) {
	f := attemptResult(t.Context(), nil, (*fs.PathError)(nil))
	var r record.Failure
	if err := json.Unmarshal(f.Data, &r); err != nil || f.Verb != tasks.Failed {
		t.Fatalf("%+v, %v", f, err)
	}
	if !strings.Contains(r.Error, "*fs.PathError") || !strings.Contains(r.Stack, "attemptResult") {
		t.Errorf("the failure is %q\n%s", r.Error, r.Stack)
	}
}

package assign

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

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
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
		want       AttemptEnd
		verb       tasks.Verb
	}{
		{nil, nil, EndSucceeded, tasks.Succeeded},
		{ErrTimeout, nil, EndSucceeded, tasks.Succeeded}, // in time or not: it is done
		{ErrDraining, nil, EndSucceeded, tasks.Succeeded},
		{nil, err, EndFailed, tasks.Failed},
		{ErrTimeout, err, EndFailed, tasks.Failed},
		{nil, RetryAfter(time.Second, err), EndFailed, tasks.Failed},
		{nil, fmt.Errorf("wrapped: %w", Permanent(err)), EndPermanent, tasks.Permanent},
		{nil, Snooze(time.Second), EndSnoozed, tasks.Snoozed},
		{ErrDraining, err, EndReleased, tasks.Released},
		{ErrDraining, Permanent(err), EndReleased, tasks.Released},
		{ErrSessionLost, nil, EndDropped, tasks.Succeeded},
		{ErrStopped, err, EndDropped, tasks.Failed},
	} {
		ctx := under(tt.cause)
		if got := EndOf(ctx, tt.err); got != tt.want {
			t.Errorf("%v, %v: %s, want %s", tt.cause, tt.err, got, tt.want)
		}
		if got := finding(ctx, nil, tt.err).Verb; got != tt.verb {
			t.Errorf("%v, %v: reported as %v, want %v", tt.cause, tt.err, got, tt.verb)
		}
	}
}

// TestDelaysAreBounded: what a handler asks for neither loops without a pause nor overflows when it is added to a time, and
// survives the note that keeps it.
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
		}{"Snooze": {Snooze(asked), want.snooze}, "RetryAfter": {RetryAfter(asked, errors.New("why")), want.retry}} {
			f := finding(t.Context(), nil, tt.err)
			_, _, _, sent, err := tasks.DecodeReport(tasks.EncodeReport("w", 1, 1, []tasks.Finding{f}))
			if err != nil || len(sent) != 1 || time.Duration(sent[0].Delay) != tt.want {
				t.Errorf("%s(%v): reported as %v, %v; want %v", name, asked, sent, err, tt.want)
				continue
			}
			data, err := encodeNote(tasks.Retry{Attempt: tasks.Attempt{Epoch: 1, N: 1}, Wait: time.Duration(sent[0].Delay)})
			if err != nil {
				t.Fatal(err)
			}
			note, err := decodeNote(data)
			if err != nil || note.Wait != tt.want {
				t.Errorf("%s(%v): noted as %v, %v; want %v", name, asked, note.Wait, err, tt.want)
			}
			if now := time.Now(); !now.Add(note.Wait).After(now) {
				t.Errorf("%s(%v): due in the past", name, asked)
			}
		}
	}
}

// TestFailureFitsIntoAHeader: JSON writes some bytes as six.
func TestFailureFitsIntoAHeader(t *testing.T) {
	for _, text := range []string{"", "short", strings.Repeat("x", 1<<20), strings.Repeat("\x00", 1<<20), strings.Repeat("\xff", 1<<20), strings.Repeat("<ü>", 1<<19)} {
		data := encodeFailure(text, text)
		var f failureRecord
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatal(err)
		}
		if len(data) > maxFailure || strings.ContainsAny(string(data), "\r\n") {
			t.Errorf("%d bytes of a text of %d", len(data), len(text))
		}
		if len(text) > 100 && (len(f.Error) < 1000 || len(f.Stack) < 1000) || len(text) <= 100 && f.Error != text {
			t.Errorf("%d bytes are left of a text of %d, %d of the stack", len(f.Error), len(text), len(f.Stack))
		}
	}
}

func TestHeadersOf(t *testing.T) {
	for text, want := range map[string]string{`{"a":"b"}`: "b", "": "", "no": "", `{"a":1}`: ""} {
		if got := headersOf(text)["a"]; got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestAnErrorThatCannotBeRead: a nil pointer to an error type is no nil error, and most of its methods panic.
func TestAnErrorThatCannotBeRead(t *testing.T) {
	f := finding(t.Context(), nil, (*fs.PathError)(nil))
	var r failureRecord
	if err := json.Unmarshal(f.Data, &r); err != nil || f.Verb != tasks.Failed {
		t.Fatalf("%+v, %v", f, err)
	}
	if !strings.Contains(r.Error, "*fs.PathError") || !strings.Contains(r.Stack, "finding") {
		t.Errorf("the failure is %q\n%s", r.Error, r.Stack)
	}
}

package record

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// FuzzAfter: any header is read without harm. A task waits for tasks that can exist, and for a
// bounded number. An outcome is written again as it is, and its retention is within bounds.
func FuzzAfter(f *testing.F) {
	for _, text := range []string{
		`{"ids":["a","b.c"]}`, `{"ids":["a"],"ended":true}`, `{"ids":[]}`, `{"ids":["a b"]}`, `{}`, `{"group":3}`, `{"group":-1}`, `null`, ``, `3600`, `-1`,
		`99999999999999999999`, "2026-11-26T10:00:00.5Z",
		`{"v":2,"kind":"k","attempts":5,"backoff_ms":1000,"max_backoff_ms":3600000,"retention_s":3600}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		most := 256<<10 + 128*uint64(len(text))
		if took := heap.Took(most, func() { readAfter(t, text) }); took > most {
			t.Errorf("%d bytes for %d", took, len(text))
		}
	})
}

func readAfter(t *testing.T, text string) {
	if a, err := ParseAfter(text); err == nil {
		if a.Group == 0 && len(a.IDs) < 1 || len(a.IDs) > MaxUpstream || a.Group < 0 || a.Group > groups.MaxSize {
			t.Errorf("%q: %d tasks", text, len(a.IDs))
		}
		for _, id := range a.IDs {
			if !naming.Valid(id) {
				t.Errorf("%q names %q", text, id)
			}
		}
		if encoded, err := json.Marshal(a); err != nil || len(encoded) > MaxAfter {
			t.Errorf("%q becomes %s, %v", text, encoded, err)
		}
	}
	if header, err := WithoutWaiting(text); err == nil {
		if p, err := ParsePolicy(header); err != nil || p.Version != 1 {
			t.Errorf("%q becomes %q: %+v, %v", text, header, p, err)
		}
	}
	e := natskv.Entry{Key: "q.x", Time: time.Unix(1e9, 0), Header: nats.Header{
		headerKept: {text}, HeaderEnded: {text}, HeaderOutcome: {text},
	}}
	if retention, stays := Stays(e.Header); stays != (text != "") ||
		stays && (retention < MinRetention || retention > MaxDuration) {
		t.Errorf("%q is kept for %v: %t", text, retention, stays)
	}
	_ = EndedAt(&e)
	if op, needed := Restay(&e, false); needed &&
		(op.TTL < MinRetention || len(op.Header) != 2 || op.Header[0].Value != text) {
		t.Errorf("%q is written as %+v", text, op)
	}
}

// TestAnOutcomeIsWrittenAgainAsItIs: it stays, and then leaves after the retention that it had.
func TestAnOutcomeIsWrittenAgainAsItIs(t *testing.T) {
	at := time.Date(2026, 11, 26, 10, 0, 0, 0, time.UTC)
	e := natskv.Entry{
		Key: "q.x", Value: []byte("out"), Revision: 7, Time: at,
		Header: nats.Header{"Nats-TTL": {"3600"}, HeaderOutcome: {`{"v":1}`}, HeaderFailure: {"no"}, HeaderAfter: {"x"}},
	}
	op, needed := Restay(&e, true)
	if !needed || op.Expect != 7 || op.TTL != 0 || string(op.Value) != "out" || len(op.Header) != 5 {
		t.Fatalf("%+v", op)
	}
	if _, needed := Restay(&e, false); needed {
		t.Error("it does not stay, and is to be released")
	}
	stays := natskv.Entry{Key: "q.x", Value: op.Value, Revision: 8, Time: at.Add(time.Hour), Header: stored(op.Header)}
	if _, needed := Restay(&stays, true); needed {
		t.Error("it stays, and is to stay")
	}
	op, needed = Restay(&stays, false)
	if !needed || op.Expect != 8 || op.TTL != time.Hour || len(op.Header) != 4 {
		t.Fatalf("%+v", op)
	}
	for _, entry := range []*natskv.Entry{&e, &stays} { // it is kept as before
		again := Again(entry)
		after := natskv.Entry{Time: at.Add(2 * time.Hour), Header: stored(again.Header)}
		_, before := Stays(entry.Header)
		if retention, stays := Stays(after.Header); stays != before || stays && retention != time.Hour ||
			!stays && again.TTL != time.Hour || again.Expect != entry.Revision || !EndedAt(&after).Equal(at) {
			t.Errorf("%+v is written again as %+v", entry, again)
		}
	}
	last := natskv.Entry{Time: at.Add(2 * time.Hour), Header: stored(op.Header)}
	if got := EndedAt(&last); !got.Equal(at) {
		t.Errorf("it ended at %v, want %v", got, at)
	}
}

package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// stored is a header as the server gives it back.
func stored(fields []natskv.Field) nats.Header {
	h := nats.Header{}
	for _, f := range fields {
		h.Add(f.Name, f.Value)
	}
	return h
}

func message(o *Outcome) string {
	text, _ := o.Why()
	return text
}

func TestRecordsReadBack(t *testing.T) {
	const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	dead := tasks.Outcome{
		Status: tasks.StatusDead, Cause: "permanent", Attempt: tasks.Attempt{Epoch: 7, N: 2}, Tries: 2, Instance: "a",
		Ran:  5000,
		Body: &frame.Finding{Data: []byte(`{"error":"no"}`)},
	}
	header, data := EncodeOutcome("k", dead, trace,
		&Submitted{Task: "policy", Keys: "keys", Meta: "meta", Data: []byte("input")})
	o, err := DecodeOutcome(stored(header), data)
	if err != nil || o.Kind != "k" || o.Epoch != 7 || o.Attempt != 2 || o.Attempts != 2 || o.Worker != "a" || o.Ran != 5 ||
		o.trace != trace || message(o) != "no" || string(o.Data) != "input" {
		t.Errorf("%+v, %v", o, err)
	}
	if h := stored(header); First(h[HeaderTask]) != "policy" || First(h[HeaderKeys]) != "keys" ||
		First(h[HeaderMeta]) != "meta" {
		t.Errorf("a dead task keeps %v", header)
	}
	if header, data := EncodeOutcome("k", dead, "", nil); len(header) != 2 || data != nil {
		t.Errorf("without an input: %v, %q", header, data)
	}
	for _, object := range []bool{false, true} {
		header, data := EncodeOutcome("k", tasks.Outcome{
			Status: tasks.StatusSucceeded, Tries: 1, Body: &frame.Finding{Data: []byte("output"), Stored: object},
		}, "", nil)
		if o, err := DecodeOutcome(stored(header), data); err != nil || message(o) != "" || string(o.Data) != "output" ||
			o.Object != object {
			t.Errorf("%+v, %v", o, err)
		}
	}
	header, data = EncodeOutcome("k", tasks.Outcome{Status: tasks.StatusCancelled, Cause: "cancelled"}, "", nil)
	if o, err := DecodeOutcome(stored(header), data); err != nil || o.Cause != "cancelled" || len(data) != 0 {
		t.Errorf("%+v, %v", o, err)
	}
	retry := tasks.Retry{
		Attempt: tasks.Attempt{Epoch: 7, N: 2}, Failures: 1, Crashes: 2, Snoozes: 3, Wait: time.Second,
		Started: tasks.Attempt{Epoch: 8, N: 1}, Session: 77, Alone: true, Group: 9, Ran: 5 * time.Second, Blame: 2,
	}
	note, err := EncodeNote(retry)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodeNote(note); err != nil || !reflect.DeepEqual(got, retry) {
		t.Errorf("%+v, %v", got, err)
	}
	text, err := json.Marshal(Policy{
		Version: 1, Kind: "k", Attempts: 7, Timeout: 1000, Backoff: 2000, MaxBack: 60_000, Retention: 7200,
		Crashes:  9,
		Priority: 3, Weight: 2, Labels: map[string]string{"zone": "north"}, Concurrency: 4, Rate: 2.5,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := &tasks.Policy{
		Kind: "k", MaxAttempts: 7, CrashBudget: 9, Timeout: time.Second, Backoff: 2 * time.Second, MaxBackoff: time.Minute,
		Retention: 2 * time.Hour, Dead: DefaultDead,
		Priority: 3, Weight: 2, Labels: map[string]string{"zone": "north"}, Concurrency: 4, Rate: 2.5, KeyLimit: 1,
	}
	if got, err := ParsePolicy(string(text)); err != nil || !reflect.DeepEqual(got.Shared(), want) {
		t.Errorf("%+v, %v", got, err)
	}
	tick := time.Date(2026, 3, 29, 2, 30, 0, 0, time.FixedZone("", 3600))
	if value, err := EncodeTick(tick); err != nil {
		t.Error(err)
	} else if got, err := DecodeTick(value); err != nil || !got.Tick.Equal(tick) || !got.Last.Equal(tick) {
		t.Errorf("%v, %v", got, err)
	}
	for _, last := range []time.Time{{}, tick.Add(-time.Minute)} {
		if value, err := EncodePass(tick, last); err != nil {
			t.Error(err)
		} else if got, err := DecodeTick(value); err != nil || !got.Tick.Equal(tick) || !got.Last.Equal(last) {
			t.Errorf("%s: %v, %v", value, got, err)
		}
	}
}

// TestOutcomeIsPlainJSON: the hand-made encoding is that of the encoder.
func TestOutcomeIsPlainJSON(t *testing.T) {
	for i, o := range []Fields{
		{
			Version: 1, Kind: "k", Status: tasks.StatusSucceeded, Attempts: 1, Worker: "node-1.example", Epoch: 1<<63 - 1,
			Attempt: 1<<32 - 1, Ran: 12,
		},
		{Version: 1, Kind: "a/b=c", Status: tasks.StatusDead, Cause: "worker_lost"},
		{Version: 1, Kind: "\"\\\n\u2028é", Status: "x", Worker: "<&>\x00", Ran: -1},
	} {
		want, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(want, &a) != nil || json.Unmarshal(o.append(nil), &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s, want %s", o.append(nil), want)
		}
		var again Fields
		if ok := again.parse(string(o.append(nil))); ok && again != o || !ok && i == 0 {
			t.Errorf("%s was read as %+v, %v", o.append(nil), again, ok)
		}
	}
}

// TestLongFailuresAreShortened: a header must not make an outcome too large to be stored.
func TestLongFailuresAreShortened(t *testing.T) {
	long, err := json.Marshal(Failure{Error: strings.Repeat("\x00", maxFailure), Stack: strings.Repeat("é", maxFailure)})
	if err != nil {
		t.Fatal(err)
	}
	short := fitFailure(long)
	var f Failure
	if len(short) > maxFailure || json.Unmarshal([]byte(short), &f) != nil || f.Error == "" || f.Stack == "" {
		t.Errorf("%d bytes, %.100q", len(short), short)
	}
	if fitFailure([]byte(strings.Repeat("x", maxFailure+1))) != "" {
		t.Error("data that is not a failure was kept")
	}
}

func TestTraces(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for text, want := range map[string]string{
		good: good, "": "", "01" + good[2:]: "", good + "-x": "", strings.ToUpper(good): "",
		strings.Replace(good, "af", "zz", 1): "",
	} {
		if packed := PackTrace(text); UnpackTrace(packed) != want || len(packed) > traceBytes {
			t.Errorf("%q became %q, in %d bytes", text, UnpackTrace(packed), len(packed))
		}
	}
}

// FuzzRecords: anybody who may publish can write anything there. Reading it takes memory in
// proportion.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"v":1,"kind":"k","attempts":5,"backoff_ms":1000,"max_backoff_ms":3600000,"retention_s":3600}`))
	f.Add([]byte(`{"v":1,"kind":"k","status":"succeeded","attempts":1}`))
	f.Add([]byte(`{"v":1,"kind":"k","status":"dead","cause":"permanent","epoch":9,"attempt":4,"attempts":2,"worker":"w","ran_us":7}`))
	f.Add([]byte(`{"v":01,"kind":"k"}`))
	f.Add([]byte(`{"v":1,"epoch":9,"attempt":1,"wait_ms":5}`))
	f.Add([]byte(`{"v":1,"epoch":9,"holder":"a","mark":"m"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		heap.Bounded(t, len(b), func() {
			if p, err := ParsePolicy(string(b)); err == nil && !withinLimits(&p) {
				t.Errorf("%s: %+v", b, p)
			}
		})
		// The parser reads everything as the decoder would.
		heap.Bounded(t, len(b), func() {
			var byHand, byDecoder Fields
			if byHand.parse(string(b)) {
				if err := json.Unmarshal(b, &byDecoder); err != nil || byHand != byDecoder {
					t.Errorf("%s: %+v, but %+v, %v", b, byHand, byDecoder, err)
				}
			}
		})
		heap.Bounded(t, len(b), func() {
			if o, err := DecodeOutcome(nats.Header{HeaderOutcome: {string(b)}}, b); err == nil {
				_, _ = o.Why()
			}
		})
		heap.Bounded(t, len(b), func() {
			if r, err := DecodeNote(b); err == nil && r.Wait < 0 {
				t.Errorf("%s: %+v", b, r)
			}
			if r, err := DecodeTick(b); err == nil && r.Tick.IsZero() {
				t.Errorf("%s: %v", b, r)
			}
			if u, err := DecodeUnique(b); err == nil && u.Task == "" {
				t.Errorf("%s: %+v", b, u)
			}
			if s, err := DecodeSeal(b); err == nil && s.Epoch == 0 {
				t.Errorf("%s: %+v", b, s)
			}
		})
	})
}

package assign

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

func TestRecordsReadBack(t *testing.T) {
	header, data, err := encodeOutcome("k", tasks.Outcome{
		Status: tasks.StatusDead, Cause: "permanent", Attempt: tasks.Attempt{Epoch: 7, N: 2}, Tries: 2, Instance: "a", Ran: 5000, Body: []byte(`{"error":"no"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	o, err := decodeOutcome(header, data)
	if err != nil || o.Kind != "k" || o.Epoch != 7 || o.Attempt != 2 || o.Ran != 5 || o.err("x").(*TaskError).Message != "no" {
		t.Errorf("%+v, %v", o, err)
	}
	retry := tasks.Retry{Attempt: tasks.Attempt{Epoch: 7, N: 2}, Failures: 1, Crashes: 2, Snoozes: 3, Wait: time.Second}
	note, err := encodeNote(retry)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := decodeNote(note); err != nil || !reflect.DeepEqual(got, retry) {
		t.Errorf("%+v, %v", got, err)
	}
	k := NewKind[int, int]("k", MaxAttempts(7), Timeout(time.Second), Backoff(2*time.Second, time.Minute), Retention(2*time.Hour))
	text, err := json.Marshal(k.policy)
	if err != nil {
		t.Fatal(err)
	}
	want := &tasks.Policy{Kind: "k", MaxAttempts: 7, Timeout: time.Second, Backoff: 2 * time.Second, MaxBackoff: time.Minute, Retention: 2 * time.Hour}
	if got, err := parsePolicy(string(text)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
}

// FuzzRecords: whoever may publish can write anything there.
func FuzzRecords(f *testing.F) {
	f.Add([]byte(`{"v":1,"kind":"k","attempts":5,"backoff_ms":1000,"max_backoff_ms":3600000,"retention_s":3600}`))
	f.Add([]byte(`{"v":1,"kind":"k","status":"succeeded","attempts":1}`))
	f.Add([]byte(`{"v":1,"epoch":9,"attempt":1,"wait_ms":5}`))
	f.Add([]byte(`{"v":1,"epoch":9,"holder":"a","mark":"m"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := parsePolicy(string(b)); err == nil && (p.MaxAttempts < 1 || p.Backoff <= 0 || p.Retention < minRetention || p.Kind == "") {
			t.Errorf("%s: %+v", b, p)
		}
		if o, err := decodeOutcome(nats.Header{headerOutcome: {string(b)}}, b); err == nil {
			_ = o.err("x")
		}
		if r, err := decodeNote(b); err == nil && r.Wait < 0 {
			t.Errorf("%s: %+v", b, r)
		}
		if s, err := decodeSeal(b); err == nil && s.Epoch == 0 {
			t.Errorf("%s: %+v", b, s)
		}
	})
}

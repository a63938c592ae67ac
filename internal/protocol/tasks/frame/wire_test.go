package frame

import (
	"reflect"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
)

var someEnvelope = Envelope{
	Namespace: "work", Role: "scheduler", Epoch: 9, Term: 8, Instance: "a.b", Session: 7,
	Number: 6, Key: "public",
}

func TestFramesReadBack(t *testing.T) {
	list := []Task{
		{
			Assignment: tasks.Assignment{
				ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3, Try: 2, Left: time.Second,
				Policy: &tasks.Policy{Kind: "k", Timeout: time.Minute, Retention: time.Hour, Weight: 2}, Revision: 12,
			},
			Trace: "00-1", Payload: []byte("in"), Saved: []byte{},
		},
		{Assignment: tasks.Assignment{
			ID: "y", Attempt: tasks.Attempt{Epoch: 9, N: 2}, Serial: 4, Try: 1,
			Policy: &tasks.Policy{Kind: "k", Weight: 1},
		}, Payload: []byte{}, Saved: []byte{}},
	}
	v, low, got, err := DecodeAssign(EncodeAssign(&someEnvelope, 2, list))
	if err != nil || v != someEnvelope || low != 2 || !reflect.DeepEqual(got, list) {
		t.Errorf("assign: %+v, %d, %+v, %v", v, low, got, err)
	}
	told := workers.StopOrder{
		Term: someEnvelope.Term, ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3,
		Status: tasks.StatusExpired,
	}
	if v, got, err := DecodeStop(EncodeStop(&someEnvelope, told)); err != nil || v != someEnvelope || got != told {
		t.Errorf("stop: %v, %v, %v", v, got, err)
	}
	if v, err := DecodeSync(EncodeSync(&someEnvelope)); err != nil || v != someEnvelope {
		t.Errorf("sync: %v, %v", v, err)
	}
	answers := []tasks.Answer{
		{ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Verdict: tasks.Accepted},
		{ID: "y", Attempt: tasks.Attempt{Epoch: 9, N: 2}, Verdict: tasks.Full},
	}
	if s, n, got, key, err := DecodeAnswers(EncodeAnswers(7, 6, answers, "k")); err != nil || s != 7 || n != 6 ||
		key != "k" || !reflect.DeepEqual(got, answers) {
		t.Errorf("answers: %v, %v, %v, %v", s, n, got, err)
	}
	said := Holding{
		Session: 7, Epoch: 9, Held: []tasks.Held{{ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Revision: 4}}, Beside: 2,
		Key: "k",
	}
	b := EncodeSynced(&said)
	if got, err := DecodeSynced(b); err != nil || !reflect.DeepEqual(got, said) {
		t.Errorf("synced: %+v, %v", got, err)
	}
	earlier := said
	earlier.Beside = 0
	if got, err := DecodeSynced(b[:len(b)-1]); err != nil || !reflect.DeepEqual(got, earlier) {
		t.Errorf("synced by an earlier version: %+v, %v", got, err)
	}
	findings := []Finding{{
		ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Verb: tasks.Failed, Delay: -1, Ran: 5,
		Data: []byte("why"),
	}}
	if i, s, e, got, err := DecodeReport(EncodeReport("a", 7, 9, findings)); err != nil || i != "a" || s != 7 || e != 9 ||
		!reflect.DeepEqual(got, findings) {
		t.Errorf("report: %v, %v, %v, %v, %v", i, s, e, got, err)
	}
	if got, err := DecodeSettled(EncodeSettled([]bool{true, false})); err != nil ||
		!reflect.DeepEqual(got, []bool{true, false}) {
		t.Errorf("settled: %v, %v", got, err)
	}
}

// FuzzFrames: no input may make a decoder panic, or claim more memory than it has bytes for.
func FuzzFrames(f *testing.F) {
	f.Add(EncodeAssign(&someEnvelope, 2,
		[]Task{{
			Assignment: tasks.Assignment{ID: "x", Policy: &tasks.Policy{Kind: "k", MaxAttempts: 3}},
			Payload:    []byte("in"),
		}}))
	f.Add(EncodeStop(&someEnvelope, workers.StopOrder{
		ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Serial: 3,
		Status: tasks.StatusExpired,
	}))
	f.Add(EncodeSync(&someEnvelope))
	f.Add(EncodeAnswers(7, 6,
		[]tasks.Answer{{ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Verdict: tasks.Accepted}}, "k"))
	f.Add(EncodeSynced(&Holding{
		7, 9, []tasks.Held{{ID: "x", Attempt: tasks.Attempt{Epoch: 9, N: 1}, Revision: 4}}, 2, "k",
	}))
	f.Add(EncodeReport("a", 7, 9, []Finding{{ID: "x", Verb: tasks.Failed}}))
	f.Add(EncodeSettled([]bool{true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _, list, err := DecodeAssign(b)
		if err == nil && len(list) > len(b) {
			t.Errorf("%d tasks in %d bytes", len(list), len(b))
		}
		_, _, _ = DecodeEnvelope(b)
		_, _, _ = DecodeStop(b)
		_, _ = DecodeSync(b)
		_, _, _, _, _ = DecodeAnswers(b)
		_, _ = DecodeSynced(b)
		_, _, _, _, _ = DecodeReport(b)
		_, _ = DecodeSettled(b)
		_, _, _ = Open(b)
	})
}

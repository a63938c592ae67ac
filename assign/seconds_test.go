package assign_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// TestSecondsInJSON: durations are seconds in JSON, beside all other fields, and are read again.
func TestSecondsInJSON(t *testing.T) {
	at, d := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), 1500*time.Millisecond
	for want, value := range map[string]any{
		`{"id":"x","state":"dead","ended":"2026-01-02T03:04:05Z","failures":[` +
			`{"cause":"failed","ended":"2026-01-02T03:04:05Z","ran_seconds":1.5},` +
			`{"cause":"worker_lost","ended":"2026-01-02T03:04:05Z"}],"ran_seconds":1.5}`: &assign.TaskStatus{
			ID: "x", State: assign.StateDead, Ended: at, Ran: d, Failures: []assign.TaskFailure{
				{Cause: "failed", Ended: at, Ran: d}, {Cause: "worker_lost", Ended: at},
			},
		},
		`{"id":"x","state":"pending"}`: &assign.TaskStatus{ID: "x", State: assign.StatePending},
		`{"kind":"k","waited":{"p50_seconds":1.5,"p99_seconds":0,"count":7}}`: &assign.IdleKind{
			Kind: "k", Waited: &assign.TaskTimes{P50: d, Count: 7},
		},
		`{"id":"x","reason":"no_worker","waiting_seconds":1.5}`: &assign.OldestTask{
			ID: "x", Reason: "no_worker", Waiting: d,
		},
		`{"name":"n","kind":"k","spec":"@daily","zone":"UTC","catch_up":"all","overlap":"skip",` +
			`"since":"2026-01-02T03:04:05Z","catch_up_window_seconds":1.5}`: &assign.Recurrence{
			Name: "n", Kind: "k", Spec: "@daily", Zone: "UTC", CatchUp: "all", Overlap: "skip", Since: at,
			CatchUpWindow: d,
		},
	} {
		text, err := json.Marshal(reflect.ValueOf(value).Elem().Interface()) // as a value, too
		if err != nil || string(text) != want {
			t.Errorf("%s, %v, want\n%s", text, err, want)
		}
		back := reflect.New(reflect.TypeOf(value).Elem())
		if err := json.Unmarshal(text, back.Interface()); err != nil || !reflect.DeepEqual(back.Interface(), value) {
			t.Errorf("%+v, %v, want %+v", back.Interface(), err, value)
		}
	}
}

package client

import (
	"testing"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

func TestEventsBetweenTwoLooks(t *testing.T) {
	task := func(s tasks.State, attempts int, worker string, progress float64) Status {
		return Status{Task: control.Task{ID: "x", State: s, Attempts: attempts, Worker: worker, Progress: progress}}
	}
	none := Status{}
	waits, runs := task(tasks.StatePending, 0, "", 0), task(tasks.StateRunning, 1, "a", 0)
	for _, tt := range []struct {
		what        string
		before, now Status
		want        EventType // "" for no news
	}{
		{"first look", none, waits, EventSubmitted},
		{"delayed", none, task(tasks.StateDelayed, 0, "", 0), EventSubmitted},
		{"due", task(tasks.StateDelayed, 0, "", 0), waits, ""},
		{"the same", waits, waits, ""},
		{"handed out", waits, runs, EventRunning},
		{"runs as before", runs, runs, ""},
		{"further", runs, task(tasks.StateRunning, 1, "a", 0.5), EventProgress},
		{"an end that is being stored", task(tasks.StateRunning, 2, "a", 0.5), task(tasks.StateRunning, 1, "", 0), ""},
		{
			"an end that is being stored, with its worker", task(tasks.StateRunning, 2, "a", 0.5),
			task(tasks.StateRunning, 1, "a", 0), "",
		},
		{"failed", runs, task(tasks.StateRetrying, 1, "", 0), EventRetrying},
		{"fails still", task(tasks.StateRetrying, 1, "", 0), task(tasks.StateRetrying, 1, "", 0), ""},
		{"due again", task(tasks.StateRetrying, 1, "", 0), task(tasks.StatePending, 1, "", 0), ""},
		{"failed behind our back", waits, task(tasks.StateRetrying, 1, "", 0), EventRetrying},
		{"given back", runs, waits, EventRetrying},
		{"on another worker", runs, task(tasks.StateRunning, 1, "b", 0), EventRunning},
		{"once more", task(tasks.StateRetrying, 1, "", 0), task(tasks.StateRunning, 2, "a", 0), EventRunning},
		{"ended", runs, task(tasks.StateSucceeded, 1, "a", 1), EventEnded},
		{"had ended", none, task(tasks.StateDead, 1, "a", 0), EventEnded},
	} {
		kind, news := eventOf(&tt.before, &tt.now)
		if !news {
			kind = ""
		}
		if kind != tt.want {
			t.Errorf("%s: %q, want %q", tt.what, kind, tt.want)
		}
	}
}

func TestSlowReceiverLosesTheOldestEvents(t *testing.T) {
	w := &watching[seen]{id: "x", of: asSeen}
	w.see(Status{Task: control.Task{ID: "x", State: tasks.StatePending, Kind: "k", Headers: map[string]string{"h": "v"}}})
	for i := range 3 * maxEvents {
		w.see(Status{Task: control.Task{
			ID: "x", State: tasks.StateRunning, Attempts: 1, Worker: "a",
			Progress: float64(i+1) / 1000,
		}})
	}
	w.see(Status{Task: control.Task{ID: "x", State: tasks.StateSucceeded, Attempts: 1}})
	w.see(Status{Task: control.Task{ID: "x", State: tasks.StateRunning, Attempts: 1, Worker: "a"}}) // late
	last := w.queue[len(w.queue)-1]
	if len(w.queue) != maxEvents || !w.over || last.what != EventEnded || last.Kind != "k" || last.Headers["h"] != "v" {
		t.Errorf("%d events, the last %+v", len(w.queue), last)
	}
}

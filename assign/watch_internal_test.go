package assign

import "testing"

func TestEventsBetweenTwoLooks(t *testing.T) {
	task := func(s State, attempts int, worker string, progress float64) TaskStatus {
		return TaskStatus{ID: "x", State: s, Attempts: attempts, Worker: worker, Progress: progress}
	}
	none := TaskStatus{}
	waits, runs := task(StatePending, 0, "", 0), task(StateRunning, 1, "a", 0)
	for _, tt := range []struct {
		what        string
		before, now TaskStatus
		want        EventType // "" for no news
	}{
		{"first look", none, waits, EventSubmitted},
		{"delayed", none, task(StateDelayed, 0, "", 0), EventSubmitted},
		{"due", task(StateDelayed, 0, "", 0), waits, ""},
		{"the same", waits, waits, ""},
		{"handed out", waits, runs, EventRunning},
		{"runs as before", runs, runs, ""},
		{"further", runs, task(StateRunning, 1, "a", 0.5), EventProgress},
		{"an end that is being stored", task(StateRunning, 2, "a", 0.5), task(StateRunning, 1, "", 0), ""},
		{"an end that is being stored, with its worker", task(StateRunning, 2, "a", 0.5), task(StateRunning, 1, "a", 0), ""},
		{"failed", runs, task(StateRetrying, 1, "", 0), EventRetrying},
		{"fails still", task(StateRetrying, 1, "", 0), task(StateRetrying, 1, "", 0), ""},
		{"due again", task(StateRetrying, 1, "", 0), task(StatePending, 1, "", 0), ""},
		{"failed behind our back", waits, task(StateRetrying, 1, "", 0), EventRetrying},
		{"given back", runs, waits, EventRetrying},
		{"on another worker", runs, task(StateRunning, 1, "b", 0), EventRunning},
		{"once more", task(StateRetrying, 1, "", 0), task(StateRunning, 2, "a", 0), EventRunning},
		{"ended", runs, task(StateSucceeded, 1, "a", 1), EventEnded},
		{"had ended", none, task(StateDead, 1, "a", 0), EventEnded},
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
	w := &watching{id: "x"}
	w.see(TaskStatus{ID: "x", State: StatePending, Kind: "k", Headers: map[string]string{"h": "v"}})
	for i := range 3 * maxEvents {
		w.see(TaskStatus{ID: "x", State: StateRunning, Attempts: 1, Worker: "a", Progress: float64(i+1) / 1000})
	}
	w.see(TaskStatus{ID: "x", State: StateSucceeded, Attempts: 1})
	w.see(TaskStatus{ID: "x", State: StateRunning, Attempts: 1, Worker: "a"}) // late
	last := w.queue[len(w.queue)-1]
	if len(w.queue) != maxEvents || !w.over || last.Type != EventEnded || last.Task.Kind != "k" || last.Task.Headers["h"] != "v" {
		t.Errorf("%d events, the last %+v", len(w.queue), last)
	}
}

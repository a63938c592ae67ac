package tasks

import (
	"fmt"
	"testing"
)

func pushing(term, low uint64, list ...Assignment) Received {
	for i := range list {
		list[i].Policy = policy
	}
	return Received{Term: term, Low: low, List: list}
}

func verdictOf(t *testing.T, w *Worker, p Received) Verdict {
	t.Helper()
	for _, e := range w.Step(p, nil) {
		if r, ok := e.(Reply); ok {
			return r.Answers[0].Verdict
		}
	}
	t.Fatal("not answered")
	return 0
}

func newTestWorker(slots int) *Worker {
	return NewWorker(WorkerConfig{Slots: slots, Kinds: []string{"k"}, MaxOutbox: 10})
}

func TestAnswersAreRemembered(t *testing.T) {
	w := newTestWorker(1)
	x, y := Assignment{ID: "x", Attempt: Attempt{5, 1}, Serial: 1}, Assignment{ID: "y", Attempt: Attempt{5, 1}, Serial: 2}
	if v := verdictOf(t, w, pushing(5, 0, x)); v != Accepted {
		t.Fatalf("x: %v", v)
	}
	if v := verdictOf(t, w, pushing(5, 0, y)); v != Full {
		t.Fatalf("y: %v", v)
	}
	w.Step(Ended{ID: "x", Attempt: x.Attempt}, nil)
	w.Step(Acked{ID: "x", Attempt: x.Attempt}, nil)
	if v := verdictOf(t, w, pushing(5, 0, y)); v != Full {
		t.Errorf("y once more, with room: %v; somebody else may have it", v)
	}
	if v := verdictOf(t, w, pushing(5, 0, x)); v != Accepted || w.Live() != 0 {
		t.Errorf("x once more: %v, %d live", v, w.Live())
	}
	next := Assignment{ID: "z", Attempt: Attempt{5, 1}, Serial: 3}
	if v := verdictOf(t, w, pushing(5, 2, next)); v != Accepted {
		t.Errorf("z: %v", v)
	}
	if v := verdictOf(t, w, pushing(5, 0, x)); v != Replayed {
		t.Errorf("x below the low-water mark: %v", v)
	}
}

func TestToldToStopBeforeItCame(t *testing.T) {
	w := newTestWorker(1)
	w.Step(StopOrder{Term: 5, ID: "x", Attempt: Attempt{5, 1}, Serial: 7}, nil)
	if v := verdictOf(t, w, pushing(5, 0, Assignment{ID: "x", Attempt: Attempt{5, 1}, Serial: 7})); v != Halted {
		t.Errorf("%v", v)
	}
}

func TestANewTermForgetsAndAnOldOneIsRefused(t *testing.T) {
	w := newTestWorker(2)
	if v := verdictOf(t, w, pushing(5, 3, Assignment{ID: "x", Attempt: Attempt{5, 9}, Serial: 4})); v != Accepted {
		t.Fatal(v)
	}
	if v := verdictOf(t, w, pushing(8, 0, Assignment{ID: "y", Attempt: Attempt{8, 1}, Serial: 1})); v != Accepted {
		t.Errorf("serials begin again with a term: %v", v)
	}
	if v := verdictOf(t, w, pushing(5, 0, Assignment{ID: "z", Attempt: Attempt{5, 10}, Serial: 5})); v != StaleEpoch {
		t.Errorf("%v", v)
	}
}

// TestAFullOutboxTakesNothing: what a worker has not been able to report yet is bounded, however
// many slots it has.
func TestAFullOutboxTakesNothing(t *testing.T) {
	w := newTestWorker(100)
	for i := range 11 {
		a := Assignment{ID: fmt.Sprint(i), Attempt: Attempt{5, 1}, Serial: uint64(i + 1)}
		if v, want := verdictOf(t, w, pushing(5, 0, a)), Accepted; i < 10 && v != want || i == 10 && v != Full {
			t.Fatalf("with %d results that are not acknowledged: %v", w.Unacked(), v)
		}
		w.Step(Ended{ID: a.ID, Attempt: a.Attempt}, nil)
	}
	w.Step(Acked{ID: "3", Attempt: Attempt{5, 1}}, nil)
	if v := verdictOf(t, w, pushing(5, 0, Assignment{ID: "next", Attempt: Attempt{5, 1}, Serial: 20})); v != Accepted {
		t.Errorf("with room for one: %v", v)
	}
}

func TestAnotherAttemptOfTheSameTaskIsBusy(t *testing.T) {
	w := newTestWorker(4)
	verdictOf(t, w, pushing(5, 0, Assignment{ID: "x", Attempt: Attempt{5, 1}, Serial: 1}))
	if v := verdictOf(t, w, pushing(5, 0, Assignment{ID: "x", Attempt: Attempt{5, 2}, Serial: 2})); v != Busy {
		t.Errorf("%v", v)
	}
	p := pushing(5, 0, Assignment{ID: "old", Attempt: Attempt{5, 1}, Serial: 3})
	p.Blocked = map[string]int{"old": 1}
	if v := verdictOf(t, w, p); v != Busy {
		t.Errorf("a task whose handler outlived its session: %v", v)
	}
}

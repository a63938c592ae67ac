package workers

import (
	"fmt"
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

func attempt(epoch uint64, n uint32) tasks.Attempt { return tasks.Attempt{Epoch: epoch, N: n} }

var anyPolicy = &tasks.Policy{Kind: "k"}

func pushing(term, low uint64, list ...tasks.Assignment) Received {
	for i := range list {
		list[i].Policy = anyPolicy
	}
	return Received{Term: term, Low: low, List: list}
}

func verdictOf(t *testing.T, w *Worker, p Received) tasks.Verdict {
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
	return New(Config{Slots: slots, Kinds: []string{"k"}, MaxOutbox: 10})
}

func TestAnswersAreRemembered(t *testing.T) {
	w := newTestWorker(1)
	x, y := tasks.Assignment{ID: "x", Attempt: attempt(5, 1), Serial: 1}, tasks.Assignment{
		ID: "y", Attempt: attempt(5, 1),
		Serial: 2,
	}
	if v := verdictOf(t, w, pushing(5, 0, x)); v != tasks.Accepted {
		t.Fatalf("x: %v", v)
	}
	if v := verdictOf(t, w, pushing(5, 0, y)); v != tasks.Full {
		t.Fatalf("y: %v", v)
	}
	w.Step(Ended{ID: "x", Attempt: x.Attempt}, nil)
	w.Step(Acked{ID: "x", Attempt: x.Attempt}, nil)
	if v := verdictOf(t, w, pushing(5, 0, y)); v != tasks.Full {
		t.Errorf("y once more, with room: %v; somebody else may have it", v)
	}
	if v := verdictOf(t, w, pushing(5, 0, x)); v != tasks.Accepted || w.Live() != 0 {
		t.Errorf("x once more: %v, %d live", v, w.Live())
	}
	next := tasks.Assignment{ID: "z", Attempt: attempt(5, 1), Serial: 3}
	if v := verdictOf(t, w, pushing(5, 2, next)); v != tasks.Accepted {
		t.Errorf("z: %v", v)
	}
	if v := verdictOf(t, w, pushing(5, 0, x)); v != tasks.Replayed {
		t.Errorf("x below the low-water mark: %v", v)
	}
}

func TestToldToStopBeforeItCame(t *testing.T) {
	w := newTestWorker(1)
	w.Step(StopOrder{Term: 5, ID: "x", Attempt: attempt(5, 1), Serial: 7}, nil)
	if v := verdictOf(t, w,
		pushing(5, 0, tasks.Assignment{ID: "x", Attempt: attempt(5, 1), Serial: 7})); v != tasks.Halted {
		t.Errorf("%v", v)
	}
}

// TestAHandlerIsToldWhyItIsStopped: it hears the status that the stop names.
func TestAHandlerIsToldWhyItIsStopped(t *testing.T) {
	for _, status := range []tasks.Status{tasks.StatusCancelled, tasks.StatusExpired, ""} {
		w := newTestWorker(1)
		x := tasks.Assignment{ID: "x", Attempt: attempt(5, 1), Serial: 1}
		w.Step(pushing(1, 0, x), nil)
		all := w.Step(StopOrder{Term: 1, ID: "x", Attempt: x.Attempt, Serial: 1, Status: status}, nil)
		if len(all) != 1 || all[0] != (Halt{"x", x.Attempt, status}) {
			t.Errorf("%q: %+v", status, all)
		}
	}
}

func TestANewTermForgetsAndAnOldOneIsRefused(t *testing.T) {
	w := newTestWorker(2)
	if v := verdictOf(t, w,
		pushing(5, 3, tasks.Assignment{ID: "x", Attempt: attempt(5, 9), Serial: 4})); v != tasks.Accepted {
		t.Fatal(v)
	}
	if v := verdictOf(t, w,
		pushing(8, 0, tasks.Assignment{ID: "y", Attempt: attempt(8, 1), Serial: 1})); v != tasks.Accepted {
		t.Errorf("serials begin again with a term: %v", v)
	}
	if v := verdictOf(t, w,
		pushing(5, 0, tasks.Assignment{ID: "z", Attempt: attempt(5, 10), Serial: 5})); v != tasks.StaleEpoch {
		t.Errorf("%v", v)
	}
}

// TestAFullOutboxTakesNothing: what a worker has not been able to report yet is bounded, however
// many slots it has.
func TestAFullOutboxTakesNothing(t *testing.T) {
	w := newTestWorker(100)
	for i := range 11 {
		a := tasks.Assignment{ID: fmt.Sprint(i), Attempt: attempt(5, 1), Serial: uint64(i + 1)}
		if v, want := verdictOf(t, w, pushing(5, 0, a)), tasks.Accepted; i < 10 && v != want || i == 10 && v != tasks.Full {
			t.Fatalf("with %d results that are not acknowledged: %v", w.Unacked(), v)
		}
		w.Step(Ended{ID: a.ID, Attempt: a.Attempt}, nil)
	}
	w.Step(Acked{ID: "3", Attempt: attempt(5, 1)}, nil)
	if v := verdictOf(t, w,
		pushing(5, 0, tasks.Assignment{ID: "next", Attempt: attempt(5, 1), Serial: 20})); v != tasks.Accepted {
		t.Errorf("with room for one: %v", v)
	}
}

func TestAnotherAttemptOfTheSameTaskIsBusy(t *testing.T) {
	w := newTestWorker(4)
	verdictOf(t, w, pushing(5, 0, tasks.Assignment{ID: "x", Attempt: attempt(5, 1), Serial: 1}))
	if v := verdictOf(t, w, pushing(5, 0, tasks.Assignment{ID: "x", Attempt: attempt(5, 2), Serial: 2})); v != tasks.Busy {
		t.Errorf("%v", v)
	}
	p := pushing(5, 0, tasks.Assignment{ID: "old", Attempt: attempt(5, 1), Serial: 3})
	p.Blocked = map[string]int{"old": 1}
	if v := verdictOf(t, w, p); v != tasks.Busy {
		t.Errorf("a task whose handler outlived its session: %v", v)
	}
}

// BenchmarkWorker is all that a worker's rules do for one task, of which many come in a frame:
// taken, ended, acknowledged.
func BenchmarkWorker(b *testing.B) {
	const burst = 256
	w := New(Config{Slots: burst, Kinds: []string{"k"}, MaxOutbox: burst})
	frame := make([]tasks.Assignment, burst)
	for i := range frame {
		frame[i] = tasks.Assignment{ID: fmt.Sprint(i), Attempt: attempt(5, 1), Policy: anyPolicy}
	}
	var out []Effect
	serial := uint64(0)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; n += burst {
		low := serial
		for i := range frame {
			serial++
			frame[i].Serial = serial
		}
		if out = w.Step(Received{Term: 5, Low: low, List: frame}, out[:0]); len(out) != burst+1 {
			b.Fatalf("%d effects, want %d starts and an answer", len(out), burst)
		}
		for i := range frame {
			out = w.Step(Ended{ID: frame[i].ID, Attempt: frame[i].Attempt}, out[:0])
			out = w.Step(Acked{ID: frame[i].ID, Attempt: frame[i].Attempt}, out[:0])
		}
		if w.Live()+w.Unacked() != 0 {
			b.Fatal("something is left")
		}
	}
}

package workers

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// TestAloneMeansAlone: what must run alone is refused as long as any handler runs: of another task,
// of one that was told to stop and ignores that, or of an earlier session of the process. A result
// that is not settled does not count.
func TestAloneMeansAlone(t *testing.T) {
	policy := &tasks.Policy{Kind: "k"}
	push := func(w *Worker, serial uint64, id string, alone bool, blocked map[string]int) tasks.Verdict {
		t.Helper()
		a := tasks.Attempt{Epoch: 9, N: uint32(serial)}
		out := w.Step(Received{Term: 9, Blocked: blocked, List: []tasks.Assignment{
			{ID: id, Revision: 2, Attempt: a, Serial: serial, Policy: policy, Alone: alone},
		}}, nil)
		return out[len(out)-1].(Reply).Answers[0].Verdict
	}
	c := tasks.Attempt{Epoch: 9, N: 1}
	stop, ended, blocked := StopOrder{Term: 9, ID: "c", Attempt: c, Serial: 1}, Ended{"c", c}, map[string]int{"d": 1}
	for name, tt := range map[string]struct {
		then    []Event
		blocked map[string]int
		beside  int
		want    tasks.Verdict
	}{
		"it runs":                    {want: tasks.Busy},
		"it was told to stop":        {then: []Event{stop}, beside: 1, want: tasks.Busy},
		"it has ended":               {then: []Event{ended}, want: tasks.Accepted},
		"it was stopped and has":     {then: []Event{stop, ended}, want: tasks.Accepted},
		"an earlier session's does":  {then: []Event{ended}, blocked: blocked, beside: 1, want: tasks.Busy},
		"both an earlier one's does": {blocked: blocked, beside: 1, want: tasks.Busy},
	} {
		w := New(Config{Slots: 8, Kinds: []string{"k"}, MaxOutbox: 100})
		if v := push(w, 1, "c", true, nil); v != tasks.Accepted {
			t.Fatalf("on an empty worker: %v", v)
		}
		for _, ev := range tt.then {
			w.Step(ev, nil)
		}
		if n := w.Beside(tt.blocked); n != tt.beside {
			t.Errorf("%s: %d handlers run beside what it holds, want %d", name, n, tt.beside)
		}
		if v := push(w, 2, "beside", false, tt.blocked); v != tasks.Accepted {
			t.Errorf("%s: what need not run alone: %v", name, v)
		}
		w.Step(Ended{"beside", tasks.Attempt{Epoch: 9, N: 2}}, nil)
		if v := push(w, 3, "x", true, tt.blocked); v != tt.want {
			t.Errorf("%s: %v, want %v", name, v, tt.want)
		}
	}
}

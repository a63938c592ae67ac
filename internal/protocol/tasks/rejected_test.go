package tasks

import "testing"

// TestEveryRejectionIsCounted: whatever a worker says but that it has taken a task is told with its
// reason.
func TestEveryRejectionIsCounted(t *testing.T) {
	for v := Accepted + 1; int(v) < len(verdicts); v++ {
		g := newStage(1, 1, SchedulerConfig{})
		g.submit("x", policy)
		push, ok := find[Assign](g.step(Tick{}))
		if !ok {
			t.Fatal("it was not handed out")
		}
		answers := []Answer{{"x", push.List[0].Attempt, v}}
		got := findAll[Rejected](g.step(&Answered{Session: push.Session, Frame: push.Frame, Answers: answers}))
		if len(got) != 1 || got[0] != (Rejected{"k", push.Instance, v}) || v.String() == "" || v.String() == "unknown" {
			t.Errorf("%v: %+v", v, got)
		}
	}
}

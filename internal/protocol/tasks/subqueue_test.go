package tasks

import "testing"

// TestATenantsOwnOrderAcrossSubqueues: a tenant's urgent task goes before an older one that its
// limit key has let go again. So it is where no task has a tenant.
func TestATenantsOwnOrderAcrossSubqueues(t *testing.T) {
	for _, tenant := range []string{"a", ""} {
		b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
		b.submit("held", Policy{KeyLimit: 1}, &Keys{Fair: tenant, Limit: "l"})
		first := b.pass(0)
		b.submit("old", Policy{KeyLimit: 1}, &Keys{Fair: tenant, Limit: "l"})
		b.submit("urgent", Policy{Priority: 9}, &Keys{Fair: tenant})
		expect(t, "the urgent one", handedOut(b.accept(first, "held")), "urgent@w200")
	}
}

// TestATaskThatItsKeyLetsGo: the scheduler continues at once, and the task waits for a worker, and
// no longer for its key.
func TestATaskThatItsKeyLetsGo(t *testing.T) {
	g := newStage(1, 2, SchedulerConfig{})
	submit := func(id string, k *Keys) {
		g.revision++
		g.step(&Submitted{ID: id, Revision: g.revision, Policy: policy, Keys: k})
	}
	key := &Keys{Limit: "l"}
	submit("held", key)
	submit("other", nil)
	var frame Assign
	for _, e := range g.step(Tick{}) {
		if p, ok := e.(Assign); ok {
			frame = p
		}
	}
	var answers []Answer
	for i := range frame.List {
		answers = append(answers, Answer{frame.List[i].ID, frame.List[i].Attempt, Accepted})
	}
	g.step(&Answered{Session: frame.Session, Frame: frame.Frame, Answers: answers})
	submit("parked", key)
	submit("next", nil)
	reason := func(want Reason) {
		t.Helper()
		info, _ := g.s.TaskInfo(g.now, "parked")
		if n := g.s.Overview().Kinds[0].Reasons[want]; info.Reason != want || n == 0 {
			t.Errorf("it waits for %q, and %v do", info.Reason, g.s.Overview().Kinds[0].Reasons)
		}
	}
	g.step(Tick{})
	reason(ReasonKeyLimit)
	if g.s.Next(g.now) == 0 {
		t.Fatal("it has nothing to wait for")
	}
	g.step(&Done{
		Session: frame.Session, ID: "held", Attempt: frame.List[0].Attempt, Result: Result{Verb: Succeeded}, Ref: g,
	})
	if in := g.s.Next(g.now); in != 0 {
		t.Errorf("it continues in %v", in)
	}
	submit("urgent", nil)
	g.s.workerList[0].load = 2 // somebody else is quicker
	reason(ReasonBusy)
}

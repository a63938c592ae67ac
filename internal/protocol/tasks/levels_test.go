package tasks

import (
	"testing"
	"time"
)

// TestLevels: tasks that are not due do not wait, a task takes the slots that it asks for, and the
// oldest task of a kind is the one that has been due for longest, whatever its priority.
func TestLevels(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 3))
	b.submit("runs", Policy{Weight: 2}, nil)
	b.accept(b.pass(0))
	levels := func(queued, held, busy, free int) {
		t.Helper()
		if q, h, u, f := b.s.Levels(); q != queued || h != held || u != busy || f != free {
			t.Errorf("%d wait, %d run, %d slots busy, %d free; want %d, %d, %d, %d", q, h, u, f, queued, held, busy, free)
		}
	}
	levels(0, 1, 2, 1)
	b.submit("old", Policy{Kind: "other"}, nil)
	b.submitFor("later", Policy{Kind: "other"}, Times{Delay: time.Hour}, nil)
	b.pass(time.Minute)
	b.submit("new", Policy{Kind: "other", Priority: 50}, nil)
	b.submit("third", Policy{Kind: "third"}, nil)
	b.pass(time.Second)
	levels(3, 1, 2, 1)
	oldest := b.s.Oldest(b.s.now)
	if len(oldest) != 2 || oldest["other"].Waiting.Round(time.Second) != 61*time.Second || oldest["other"].ID != "old" ||
		oldest["other"].Reason != ReasonNoWorker || oldest["third"].Waiting.Round(time.Second) != time.Second {
		t.Errorf("%v", oldest)
	}
	if n := b.s.Open(); n != 5 {
		t.Errorf("%d are open", n)
	}
}

package tasks

import (
	"fmt"
	"testing"
	"time"
)

// TestWhyATaskWaits: each task that nobody takes says why, also among the numbers of its kind.
func TestWhyATaskWaits(t *testing.T) {
	gpu := func(m Member) Member {
		m.Labels = map[string]string{"gpu": "1"}
		return m
	}
	key := &Keys{Limit: "tenant"}
	fill := func(b *driver) { b.accept(b.pass(0)) }
	for name, c := range map[string]struct {
		want    Reason
		cfg     SchedulerConfig
		members []Member
		before  func(b *driver)
		policy  Policy
		keys    *Keys
	}{
		"nobody is there": {want: ReasonNoWorker},
		"nobody takes the kind": {
			want: ReasonNoWorker, members: []Member{idle(200, 1)},
			policy: Policy{Kind: "other"},
		},
		"nobody has the labels": {
			want: ReasonLabels, members: []Member{idle(200, 1)},
			policy: Policy{Labels: map[string]string{"gpu": "1"}},
		},
		"nobody has the slots": {
			want: ReasonSlots, members: []Member{idle(200, 3), idle(201, 2)},
			policy: Policy{Weight: 4},
		},
		"those with labels are drained": {
			want: ReasonDrained, members: []Member{idle(200, 3), gpu(idle(201, 2))},
			policy: Policy{Labels: map[string]string{"gpu": "1"}},
			before: func(b *driver) { b.step(DrainSeen{Instance: "w201", Revision: 5, Draining: true}) },
		},
		"all are leaving": {
			want: ReasonDrained,
			members: []Member{{
				Instance: "w200", Session: 200, Described: true, Works: true, Draining: true, Slots: 1,
				Kinds: []string{"k"},
			}},
		},
		"its kind is paused": {
			want: ReasonPaused, members: []Member{idle(200, 1)},
			before: func(b *driver) { b.step(PauseSeen{Kind: "k", Revision: 5, Paused: true}) },
		},
		"as many run as may": {
			want: ReasonConcurrency, members: []Member{idle(200, 3)},
			policy: Policy{Concurrency: 1}, before: func(b *driver) { b.submit("first", Policy{Concurrency: 1}, nil); fill(b) },
		},
		"its key has as many as it may": {
			want: ReasonKeyLimit, members: []Member{idle(200, 3)}, policy: Policy{KeyLimit: 1},
			keys: key, before: func(b *driver) { b.submit("first", Policy{KeyLimit: 1}, key); fill(b) },
		},
		"too soon for its rate": {want: ReasonRate, members: []Member{idle(200, 3)}, policy: Policy{Rate: 0.001}},
		"nobody has room": {
			want: ReasonBusy, members: []Member{idle(200, 1)},
			before: func(b *driver) { b.submit("first", Policy{}, nil); fill(b) },
		},
		"nobody listens": {want: ReasonUnreachable, members: []Member{idle(200, 2)}, before: func(b *driver) {
			b.step(NoResponder{Session: 200})
		}},
		"the placement lets it wait": {
			want: ReasonPlacement, cfg: SchedulerConfig{Placement: nowhereAtAll{}},
			members: []Member{idle(200, 1)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := readyDriver(t, c.cfg, c.members...)
			if c.before != nil {
				c.before(b)
			}
			b.submit("x", c.policy, c.keys)
			if handed := handedOut(b.pass(time.Millisecond)); len(handed) > 0 {
				t.Fatalf("handed out: %v", handed)
			}
			g, _ := b.s.TaskInfo(b.now, "x")
			if g.Reason != c.want {
				t.Errorf("%q, want %q", g.Reason, c.want)
			}
			if page, _ := b.s.List(b.now, 0, Filter{States: []State{StatePending}}, 10); len(page) != 1 ||
				page[0].Reason != c.want {
				t.Errorf("listed as %+v", page)
			}
			for _, k := range b.s.Overview().Kinds {
				if want := map[Reason]int{c.want: 1}; k.Kind == g.Kind && fmt.Sprint(k.Reasons) != fmt.Sprint(want) {
					t.Errorf("overview: %v, want %v", k.Reasons, want)
				}
			}
		})
	}
}

type nowhereAtAll struct{}

func (nowhereAtAll) Place(Placed, []Candidate) int { return -1 }

// TestWhyATaskWaitsAtFirst: before the state is complete, and not once it is its turn.
func TestWhyATaskWaitsAtFirst(t *testing.T) {
	b := newDriver(t)
	b.read()
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Reason != ReasonStarting {
		t.Errorf("%q", g.Reason)
	}
	b = readyDriver(t, SchedulerConfig{}, idle(200, 2))
	b.submit("x", Policy{}, nil)
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Reason != "" {
		t.Errorf("about to be handed out: %q", g.Reason)
	}
	b.submitFor("later", Policy{}, Times{Delay: time.Hour}, nil)
	b.accept(b.pass(0))
	for _, id := range []string{"x", "later"} {
		if g, _ := b.s.TaskInfo(b.now, id); g.Reason != "" {
			t.Errorf("%s: %q", id, g.Reason)
		}
	}
	if k := b.s.Overview().Kinds[0]; k.Reasons != nil {
		t.Errorf("%v", k.Reasons)
	}
}

// TestASchedulerThatDoesNotWork: a kind that only its own process handles is handled by nobody.
func TestASchedulerThatDoesNotWork(t *testing.T) {
	own := idle(200, 0)
	own.Own = true
	b := readyDriver(t, SchedulerConfig{}, own)
	b.submit("x", Policy{}, nil)
	b.pass(0)
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Reason != ReasonNoWorker {
		t.Errorf("it waits for %q", g.Reason)
	}
	b.step(Members{List: []Member{idle(300, 1)}})
	if g, _ := b.s.TaskInfo(b.now, "x"); g.Reason != "" {
		t.Errorf("it waits for %q, though a worker has it", g.Reason)
	}
}

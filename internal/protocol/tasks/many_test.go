package tasks

import (
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestManySubqueuesThatNobodyTakes cost a round nothing, and finding out that nobody does is spread
// over several.
func TestManySubqueuesThatNobodyTakes(t *testing.T) {
	const n = 50_000
	g := newStage(3, 4, SchedulerConfig{})
	for i := range n {
		g.submit(fmt.Sprint("t", i), &Policy{Kind: "k", Labels: map[string]string{"host": fmt.Sprint(i)}, MaxAttempts: 3})
	}
	rounds := 0
	for ; g.s.pooled < len(g.s.classes); rounds++ {
		before := g.s.pooled
		g.step(Tick{})
		if got := (g.s.pooled - before) * len(g.s.workerList); got == 0 || got > maxLooked {
			t.Fatalf("%d workers were looked at in one round", got)
		}
		if next := g.s.Next(g.now); g.s.pooled < len(g.s.classes) && next != 0 {
			t.Fatalf("it continues in %v", next)
		}
	}
	if rounds < 2 {
		t.Error("that proves nothing")
	}
	if next := g.s.Next(g.now); next < time.Minute {
		t.Errorf("nothing can go, and it wakes up in %v", next)
	}
	for _, p := range g.s.pools.list {
		p.lead(g.s)
	}
	if classes := g.s.heads.Len(); classes > 0 {
		t.Errorf("%d classes are looked at in each round", classes)
	}
	g.submit("plain", policy)
	if got := handedOut(g.step(Tick{})); len(got) != 1 {
		t.Errorf("beside them: %v", got)
	}
	m := member(300)
	m.Labels = map[string]string{"host": "17"}
	g.step(Members{List: []Member{m}})
	var got []string
	for range 2 * rounds {
		got = append(got, handedOut(g.step(Tick{}))...)
	}
	expect(t, "somebody who has the labels", got, "t17@w300")
	for i := range n { // those that end leave nothing behind
		if w, ok := find[WriteOutcome](g.step(CancelAsked{ID: fmt.Sprint("t", i), Revision: 1 << 40})); ok {
			g.step(&Written{Write: w.Write, Outcome: record.Won, Revision: 1 << 41})
		}
	}
	if len(g.s.classes) > maxClasses || g.s.tasks.len() != 1 {
		t.Errorf("%d classes and %d tasks are left", len(g.s.classes), g.s.tasks.len())
	}
	for i, l := range g.s.classes {
		if l.place != i || i < g.s.pooled && (l.pool == nil || l.pool.classes[l.slot] != l) {
			t.Fatalf("class %d of %d is at %d, slot %d", i, len(g.s.classes), l.place, l.slot)
		}
	}
}

// TestVeryManyExpireAtOnce: their outcomes are written some at a time, and none of them is handed
// out meanwhile.
func TestVeryManyExpireAtOnce(t *testing.T) {
	for _, kind := range []string{"none", "k"} {
		g := newStage(1, 1, SchedulerConfig{})
		p := &Policy{Kind: kind, MaxAttempts: 3}
		const n = 20_000
		g.s.ready = false
		for _, id := range ids(n) {
			g.submitFor(id, p, Times{Deadline: time.Hour})
		}
		g.s.ready = true
		g.now = g.now.Add(2 * time.Hour)
		wanted, ended := []uint64{}, 0
		take := func(effects []Effect) {
			for _, e := range effects {
				switch e := e.(type) {
				case WriteOutcome:
					wanted = append(wanted, e.Write)
				case Assign:
					t.Fatalf("%s: handed out: %+v", kind, e.List)
				}
			}
		}
		for ended < n {
			take(g.step(Tick{}))
			if len(wanted) == 0 || len(wanted) > maxExpired {
				t.Fatalf("%s: %d outcomes are under way, %d have ended", kind, len(wanted), ended)
			}
			if next := g.s.Next(g.now); len(wanted) == maxExpired && next == 0 {
				t.Fatalf("%s: it does not wait for them", kind)
			}
			number := wanted[0]
			wanted = wanted[1:]
			g.revision++
			take(g.step(&Written{Write: number, Outcome: record.Won, Revision: g.revision}))
			ended++
		}
		if g.s.tasks.len() != 0 || g.s.expired != 0 {
			t.Errorf("%s: %d are left, %d counted", kind, g.s.tasks.len(), g.s.expired)
		}
	}
}

// TestVeryManyComeDueAtOnce: they wait for a worker step by step, in order.
func TestVeryManyComeDueAtOnce(t *testing.T) {
	g := newStage(1, 1, SchedulerConfig{})
	const n = 3*maxDue + 5
	for _, id := range ids(n) {
		g.submitFor(id, &Policy{Kind: "none", MaxAttempts: 3}, Times{Delay: time.Hour})
	}
	g.now = g.now.Add(2 * time.Hour)
	for want := maxDue; want < n; want += maxDue {
		g.step(Tick{})
		if queued := int(g.s.count[waiting]); queued != want {
			t.Fatalf("%d wait, want %d", queued, want)
		}
		if next := g.s.Next(g.now); next != 0 {
			t.Fatalf("it continues in %v", next)
		}
	}
	g.step(Tick{})
	if queued, next := int(g.s.count[waiting]), g.s.Next(g.now); queued != n || next == 0 {
		t.Errorf("%d wait, and it wakes up in %v", queued, next)
	}
}

package tasks

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"
)

// readyDriver is a scheduler that hands out, to members as given.
func readyDriver(t *testing.T, cfg SchedulerConfig, members ...Member) *driver {
	t.Helper()
	cfg.Epoch = cmp.Or(cfg.Epoch, 100)
	cfg.CrashBudget, cfg.AnswerTime, cfg.WriteTime = 3, 100*time.Millisecond, time.Second
	cfg.Rand = func() float64 { return 0.5 }
	b := &driver{t: t, now: Instant(time.Hour), s: NewScheduler(cfg), revision: 10}
	b.step(CaughtUp{})
	b.seal(2)
	b.step(Members{List: members})
	if !b.s.Ready() {
		t.Fatal("not ready")
	}
	return b
}

// idle is a member of so many slots, that joined later.
func idle(session uint64, slots int) Member {
	m := member(session)
	m.Slots, m.Alone = slots, true
	return m
}

// submit stores a task. It is not handed out before the next step.
func (b *driver) submit(id string, p Policy, keys *Keys) { b.submitFor(id, p, Times{}, keys) }

func (b *driver) submitFor(id string, p Policy, times Times, keys *Keys) {
	p.Kind, p.MaxAttempts, p.Backoff, p.MaxBackoff = cmp.Or(p.Kind, "k"), 3, time.Second, time.Minute
	b.revision++
	b.now = b.now.Add(time.Millisecond)
	b.out = append(b.out,
		b.s.Step(b.now, Submitted{ID: id, Revision: b.revision, Policy: &p, Times: times, Keys: keys}, nil)...)
}

// handedOut are the tasks of the pushes among effects, with the instance that they went to.
func handedOut(effects []Effect) (all []string) {
	for _, p := range findAll[Assign](effects) {
		for _, a := range p.List {
			all = append(all, a.ID+"@"+p.Instance)
		}
	}
	return all
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, and not %v", what, got, want)
	}
}

// accept lets a worker accept all that was pushed to it, and end some of it.
func (b *driver) accept(effects []Effect, done ...string) []Effect {
	b.t.Helper()
	var more []Effect
	for _, p := range findAll[Assign](effects) {
		for _, a := range p.List {
			b.s.Step(b.now, Answered{p.Session, p.Frame, []Answer{{a.ID, a.Attempt, Accepted}}}, nil)
		}
	}
	for _, p := range findAll[Assign](effects) {
		for _, a := range p.List {
			if slices.Contains(done, a.ID) {
				more = append(more,
					b.step(Done{Session: p.Session, ID: a.ID, Attempt: a.Attempt, Result: Result{Verb: Succeeded}})...)
			}
		}
	}
	return more
}

func TestPriorityAndAging(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{AgingStep: 10 * time.Second})
	b.submit("old", Policy{}, nil)
	b.pass(25 * time.Second)
	b.submit("urgent", Policy{Priority: 2}, nil) // worth 20 s: the old one has waited longer
	b.submit("lowly", Policy{Priority: -1}, nil)
	b.submit("first", Policy{Priority: 3}, nil)
	b.submit("plain", Policy{}, nil)
	b.submit("plain2", Policy{}, nil)
	b.s.Step(b.now, Members{List: []Member{idle(200, 10)}}, nil)
	expect(t, "order", handedOut(b.pass(0)), "first@w200", "old@w200", "urgent@w200", "plain@w200", "plain2@w200",
		"lowly@w200")
}

// TestKindsTakeTurns: of two kinds the one whose first task has waited longer goes first.
func TestKindsTakeTurns(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	b.submit("k1", Policy{}, nil)
	b.submit("o1", Policy{Kind: "other"}, nil)
	b.submit("o2", Policy{Kind: "other"}, nil)
	b.submit("k2", Policy{}, nil)
	m := idle(200, 3)
	m.Kinds = []string{"k", "other"}
	b.s.Step(b.now, Members{List: []Member{m}}, nil)
	expect(t, "order", handedOut(b.pass(0)), "k1@w200", "o1@w200", "o2@w200")
}

func TestLeastLoaded(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 4), idle(201, 2))
	for i := range 6 {
		b.submit(fmt.Sprint("t", i), Policy{}, nil)
	}
	expect(t, "spread", handedOut(b.pass(0)), "t0@w200", "t2@w200", "t3@w200", "t5@w200", "t1@w201", "t4@w201")
}

func TestLabels(t *testing.T) {
	gpu := idle(201, 1)
	gpu.Labels = map[string]string{"gpu": "yes", "zone": "a"}
	b := readyDriver(t, SchedulerConfig{}, idle(200, 5), gpu)
	b.submit("none", Policy{Labels: map[string]string{"gpu": "no"}}, nil)
	b.submit("gpu1", Policy{Labels: map[string]string{"gpu": "yes"}}, nil)
	b.submit("gpu2", Policy{Labels: map[string]string{"gpu": "yes"}}, nil)
	b.submit("any", Policy{}, nil)
	expect(t, "by label, nobody behind one that finds no worker", handedOut(b.pass(0)), "any@w200", "gpu1@w201")
}

// TestWeightIsKeptRoomFor: many small tasks never keep a large one out.
func TestWeightIsKeptRoomFor(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 4))
	for i := range 4 {
		b.submit(fmt.Sprint("small", i), Policy{}, nil)
	}
	first := b.pass(0)
	b.submit("large", Policy{Weight: 3}, nil)
	for i := range 8 {
		b.submit(fmt.Sprint("more", i), Policy{}, nil)
	}
	expect(t, "one slot is free", handedOut(b.accept(first, "small0")))
	expect(t, "two are", handedOut(b.accept(first, "small1")))
	last := b.accept(first, "small2")
	expect(t, "three are", handedOut(last), "large@w200")
}

// TestTooLargeForEverybody: a task that no worker could ever take is in nobody's way.
func TestTooLargeForEverybody(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 2))
	b.submit("huge", Policy{Weight: 3}, nil)
	b.submit("small", Policy{}, nil)
	expect(t, "handed out", handedOut(b.pass(0)), "small@w200")
}

func TestSticky(t *testing.T) {
	all := []Member{idle(200, 100), idle(201, 100), idle(202, 100)}
	b := readyDriver(t, SchedulerConfig{}, all...)
	of := func(round string) map[string]string {
		where := map[string]string{}
		for i := range 30 {
			b.submit(fmt.Sprint(round, i), Policy{}, &Keys{Sticky: fmt.Sprint("key", i%10)})
		}
		for _, e := range b.pass(0) {
			p, ok := e.(Assign)
			for i := 0; ok && i < len(p.List); i++ {
				key := b.s.tasks.get(p.List[i].ID).sticky()
				if at, seen := where[key]; seen && at != p.Instance {
					t.Errorf("%s is at %s and at %s", key, at, p.Instance)
				}
				where[key] = p.Instance
			}
		}
		return where
	}
	before := of("a")
	if len(before) != 10 {
		t.Fatalf("%v", before)
	}
	b.step(Dead{Session: 201})
	b.step(Written{})
	for _, session := range []uint64{200, 202} { // they have answered
		b.s.workers[session].answered()
	}
	moved := 0
	for key, at := range of("b") {
		if before[key] != at {
			moved++
			if before[key] != "w201" {
				t.Errorf("%s has moved from %s to %s", key, before[key], at)
			}
		}
	}
	t.Logf("%d of 10 keys have moved", moved)
}

// TestStickyFindsAnother: when its worker is full a task is not kept waiting for it.
func TestStickyFindsAnother(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1), idle(201, 1))
	b.submit("t1", Policy{}, &Keys{Sticky: "s"})
	b.submit("t2", Policy{}, &Keys{Sticky: "s"})
	if got := handedOut(b.pass(0)); len(got) != 2 {
		t.Errorf("%v", got)
	}
}

type lastOne struct{ seen *[]Placed }

func (p lastOne) Place(task Placed, among []Candidate) int {
	*p.seen = append(*p.seen, task)
	if task.ID == "wait" {
		return -1
	}
	return len(among) - 1
}

func TestPlacement(t *testing.T) {
	var seen []Placed
	b := readyDriver(t, SchedulerConfig{Placement: lastOne{&seen}}, idle(200, 1), idle(201, 1))
	b.submit("t1", Policy{Priority: 7, Labels: map[string]string{}}, &Keys{Sticky: "s"})
	expect(t, "its choice", handedOut(b.pass(0)), "t1@w201")
	b.submit("wait", Policy{}, nil)
	expect(t, "none of them", handedOut(b.pass(0)))
	if len(seen) != 2 || seen[0].Sticky != "s" || seen[0].Priority != 7 || seen[0].Weight != 1 {
		t.Errorf("%+v", seen)
	}
}

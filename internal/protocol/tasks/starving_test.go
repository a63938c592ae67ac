package tasks

import (
	"fmt"
	"testing"
	"time"
)

// TestWhatCannotRunHoldsNoPlaceOfItsKey: a task that is ahead of others of its limit key, and
// cannot run, is passed by. When it can run again, it goes before what came later.
func TestWhatCannotRunHoldsNoPlaceOfItsKey(t *testing.T) {
	for name, stuck := range map[string]Policy{
		"its kind is paused":       {Kind: "p", KeyLimit: 1},
		"nobody has its labels":    {KeyLimit: 1, Labels: map[string]string{"gpu": "1"}},
		"nobody has so many slots": {KeyLimit: 1, Weight: 99},
		"nobody takes its kind":    {Kind: "unknown", KeyLimit: 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := idle(200, 10)
			m.Kinds = []string{"k", "p"}
			b := readyDriver(t, SchedulerConfig{}, m)
			b.step(PauseSeen{Kind: "p", Revision: 5, Paused: true})
			key := &Keys{Limit: "tenant"}
			b.submit("a", Policy{KeyLimit: 1}, key)
			first := b.pass(0)
			for i := range 3 {
				b.submit(fmt.Sprint("stuck", i), stuck, key)
			}
			for i := range 3 {
				b.submit(fmt.Sprint("z", i), Policy{KeyLimit: 1}, key)
			}
			if held := handedOut(b.pass(0)); len(held) > 0 {
				t.Fatalf("%v run beside a", held)
			}
			more := b.accept(first, "a")
			for i := range 3 {
				expect(t, "after the one before it", handedOut(more), fmt.Sprint("z", i, "@w200"))
				if i == 1 && name == "its kind is paused" {
					b.step(PauseSeen{Kind: "p", Revision: 6})
					expect(t, "what continues is ahead of what came later", handedOut(b.accept(more, "z1")), "stuck0@w200")
					return
				}
				more = b.accept(more, fmt.Sprint("z", i))
			}
			waiting := 0
			for _, k := range b.s.Overview().Kinds {
				waiting += k.Waiting
			}
			if waiting != 3 {
				t.Errorf("%d wait, want 3: what was passed by is still there", waiting)
			}
		})
	}
}

// TestKeysLeaveNothingBehind: whatever order their tasks end in, in whichever classes.
func TestKeysLeaveNothingBehind(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 10))
	for i := range 12 {
		p := Policy{KeyLimit: 2, Weight: 1 + i%3}
		if i%4 == 3 {
			p.Labels = map[string]string{"nobody": "has"}
		}
		b.submit(fmt.Sprint("t", i), p, &Keys{Limit: fmt.Sprint("key", i%2)})
	}
	b.pass(0)
	for i := range 12 {
		b.storeAll(b.step(CancelAsked{ID: fmt.Sprint("t", (i*5)%12), Revision: uint64(1000 + i)}))
	}
	if len(b.s.limits) != 0 || b.s.tasks.len() != 0 {
		t.Errorf("left: %+v, %d tasks", b.s.limits, b.s.tasks.len())
	}
	for _, l := range b.s.classes {
		if len(l.parked) != 0 || l.offered != 0 {
			t.Errorf("left in class %q: %+v", l.key, l.parked)
		}
	}
}

type firstOne struct{}

func (firstOne) Place(Placed, []Candidate) int { return 0 }

// only lets tasks of more than one slot run at one instance.
type only struct{ instance string }

func (o only) Place(task Placed, among []Candidate) int {
	for i := range among {
		if among[i].Instance == o.instance {
			return i
		}
	}
	if task.Weight > 1 {
		return -1
	}
	return 0
}

// TestAHeavyTaskIsNotStarved by lighter ones that come later and always find a slot, however its
// worker is chosen.
func TestAHeavyTaskIsNotStarved(t *testing.T) {
	sticky := &Keys{Sticky: "s"}
	for name, c := range map[string]struct {
		cfg     SchedulerConfig
		keys    *Keys
		workers int
	}{
		"least loaded":              {workers: 1},
		"sticky":                    {keys: sticky, workers: 1},
		"sticky, of three":          {keys: sticky, workers: 3},
		"a placement":               {cfg: SchedulerConfig{Placement: firstOne{}}, workers: 1},
		"a placement, of two":       {cfg: SchedulerConfig{Placement: firstOne{}}, workers: 2},
		"a placement that wants w1": {cfg: SchedulerConfig{Placement: only{"w201"}}, workers: 2},
	} {
		t.Run(name, func(t *testing.T) {
			var members []Member
			for i := range c.workers {
				members = append(members, idle(uint64(200+i), 2))
			}
			b := readyDriver(t, c.cfg, members...)
			type assigned struct {
				Assignment
				session uint64
			}
			var running []assigned
			take := func(all []Assign) (heavy bool) {
				for _, p := range all {
					for _, a := range p.List {
						heavy = heavy || a.ID == "heavy"
						b.s.Step(b.now, Answered{p.Session, p.Frame, []Answer{{a.ID, a.Attempt, Accepted}}}, nil)
						running = append(running, assigned{a, p.Session})
					}
				}
				return heavy
			}
			light := 2 * c.workers
			for i := range light {
				b.submit(fmt.Sprint("l", i), Policy{}, nil)
			}
			take(findAll[Assign](b.pass(0)))
			b.submit("heavy", Policy{Weight: 2}, c.keys)
			for i := range 100 {
				b.submit(fmt.Sprint("l", light+i), Policy{}, nil)
				var out []Effect
				if len(running) > 0 {
					a := running[0]
					running = running[1:]
					out = b.step(Done{Session: a.session, ID: a.ID, Attempt: a.Attempt, Result: Result{Verb: Succeeded}})
				}
				if take(findAll[Assign](append(out, b.pass(time.Second)...))) {
					return
				}
			}
			t.Error("heavy has waited while a hundred lighter and younger ones ran")
		})
	}
}

package tasks

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// TestAListingMeetsEveryTask that is open all the while, once, whatever comes and goes between its
// pages.
func TestAListingMeetsEveryTask(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	for i := range 100 {
		b.submit(fmt.Sprint("stays", i), Policy{}, nil)
		b.submit(fmt.Sprint("goes", i), Policy{}, nil)
	}
	seen := map[string]int{}
	cursor, pages := uint64(0), 0
	for {
		page, next := b.s.List(b.now, cursor, Filter{}, 7)
		if len(page) > 7 {
			t.Fatalf("a page of %d", len(page))
		}
		for _, g := range page {
			seen[g.ID]++
		}
		b.s.Step(b.now, Settled{ID: fmt.Sprint("goes", 99-pages), Revision: 1 << 30}, nil)
		b.submit(fmt.Sprint("new", pages), Policy{}, nil)
		if pages == 3 {
			b.step(Rotated{Epoch: 101}) // it is the same scheduler
		}
		if pages++; next == 0 {
			break
		}
		if n := len(page); n > 1 && pages%2 == 0 { // the asker had room for one less
			seen[page[n-1].ID]--
			next = page[n-2].Cursor
		}
		cursor = next
	}
	for i := range 100 {
		if n := seen[fmt.Sprint("stays", i)]; n != 1 {
			t.Errorf("stays%d was met %d times", i, n)
		}
	}
	for id, n := range seen {
		if n > 1 {
			t.Errorf("%s was met %d times", id, n)
		}
	}
}

// TestAListingOverAChangeOfSchedulers meets every task that is open all the while, whatever each
// scheduler has in which place, and ends. A cursor without an epoch is one of an earlier version.
func TestAListingOverAChangeOfSchedulers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var open []string
		for i := range rapid.IntRange(1, 40).Draw(rt, "open") {
			open = append(open, fmt.Sprint("t", i))
		}
		changes := rapid.IntRange(0, 3).Draw(rt, "changes")
		b, seen := (*driver)(nil), map[string]bool{}
		for epoch, cursor := uint64(100), uint64(0); ; {
			if b == nil {
				b = readyDriver(t, SchedulerConfig{Epoch: epoch})
				for _, id := range rapid.Permutation(open).Draw(rt, "read") {
					b.submit(id, Policy{}, nil)
				}
			}
			page, next := b.s.List(b.now, cursor, Filter{}, rapid.IntRange(1, 9).Draw(rt, "limit"))
			for _, g := range page {
				seen[g.ID] = true
				if rapid.Bool().Draw(rt, "ends") {
					b.s.Step(b.now, Settled{ID: g.ID, Revision: 1 << 30}, nil)
					open = slices.DeleteFunc(open, func(id string) bool { return id == g.ID })
				}
			}
			if cursor = next; cursor == 0 {
				break
			}
			if changes > 0 && rapid.Bool().Draw(rt, "changes now") {
				b, changes, epoch = nil, changes-1, epoch+rapid.Uint64Range(1, 1<<30).Draw(rt, "later")
				cursor = rapid.SampledFrom([]uint64{cursor, uint64(uint32(cursor))}).Draw(rt, "cursor")
			}
		}
		for _, id := range open {
			if !seen[id] {
				rt.Fatalf("%s was open all the while, and was not met", id)
			}
		}
	})
}

func TestListingFilters(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	b.submit("a1", Policy{}, nil)
	first := b.pass(0)
	b.accept(first)
	b.submit("a2", Policy{}, nil)
	b.submit("b1", Policy{Kind: "other"}, nil)
	b.submitFor("b2", Policy{Priority: 3}, Times{Delay: time.Hour, Deadline: 2 * time.Hour}, nil)
	for want, f := range map[string]Filter{
		"a1 a2 b1 b2": {},
		"a1 a2":       {Prefix: "a"},
		"b1":          {Kinds: []string{"other"}},
		"a1":          {States: []State{StateRunning}},
		"a2 b1":       {States: []State{StatePending}},
		"b2":          {States: []State{StateDelayed, StateRetrying}, Prefix: "b"},
	} {
		page, _ := b.s.List(b.now, 0, f, 10)
		var got []string
		for _, g := range page {
			got = append(got, g.ID)
		}
		slices.Sort(got)
		if s := fmt.Sprint(got); s != "["+want+"]" {
			t.Errorf("%+v: %s, and not %s", f, s, want)
		}
	}
	g, _ := b.s.TaskInfo(b.now, "b2")
	if g.Due <= 59*time.Minute || g.Due > time.Hour || g.Left < g.Due || g.Priority != 3 || g.Age != 0 {
		t.Errorf("%+v", g)
	}
	if g, _ := b.s.TaskInfo(b.now, "a1"); !g.Running || g.Instance != "w200" || g.Tries != 1 || g.Attempt.IsZero() {
		t.Errorf("%+v", g)
	}
}

// TestAPageIsBounded: when nothing is found, a page ends all the same.
func TestAPageIsBounded(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{})
	for i := range maxLook + 10 {
		b.submit(fmt.Sprint("t", i), Policy{}, nil)
	}
	page, next := b.s.List(b.now, 0, Filter{Prefix: "u"}, 10)
	if len(page) != 0 || next != 100<<32|maxLook {
		t.Errorf("%d found, next %x", len(page), next)
	}
	if _, next = b.s.List(b.now, next, Filter{Prefix: "u"}, 10); next != 0 {
		t.Errorf("next %x", next)
	}
	if page, next = b.s.List(b.now, 100<<32|math.MaxUint32, Filter{}, 10); len(page) != 0 || next != 0 {
		t.Errorf("behind all places: %d found, next %x", len(page), next)
	}
	for _, cursor := range []uint64{maxLook, 101<<32 | maxLook, math.MaxUint64} { // of no scheduler, and of others
		if page, _ = b.s.List(b.now, cursor, Filter{Prefix: "t"}, 1); len(page) != 1 || page[0].ID != "t0" {
			t.Errorf("cursor %x: %+v", cursor, page)
		}
	}
}

func TestOverview(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 3))
	b.submit("t1", Policy{Weight: 2, Concurrency: 1, Rate: 1e6}, nil)
	b.pass(time.Second)
	b.submit("t2", Policy{Concurrency: 1, Rate: 1e6}, nil)
	b.submitFor("t3", Policy{Concurrency: 1, Rate: 1e6}, Times{Delay: time.Hour}, nil)
	b.step(PauseSeen{Kind: "unseen", Revision: 1, Paused: true})
	o := b.s.Overview()
	want := []KindView{
		{
			Kind: "k", Waiting: 1, Delayed: 1, Running: 1, Concurrency: 1, Rate: 1e6,
			Reasons: map[Reason]int{ReasonConcurrency: 1},
		},
		{Kind: "unseen", Paused: true},
	}
	if !o.Ready || o.Epoch != 100 || o.Open != 3 || !reflect.DeepEqual(o.Kinds, want) {
		t.Errorf("%+v", o)
	}
	if len(o.Workers) != 1 || o.Workers[0].Load != 2 || o.Workers[0].Running != 1 || o.Workers[0].Slots != 3 {
		t.Errorf("%+v", o.Workers)
	}
}

// TestOverviewOfDrains: an instance that leaves, one that is drained, and one that is and has not
// come are told apart.
func TestOverviewOfDrains(t *testing.T) {
	leaving := idle(201, 1)
	leaving.Draining = true
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1), leaving)
	b.step(DrainSeen{Instance: "w200", Revision: 5, Draining: true})
	b.step(DrainSeen{Instance: "w300", Revision: 6, Draining: true})
	b.step(DrainSeen{Instance: "w400", Revision: 7, Draining: true})
	b.step(DrainSeen{Instance: "w400", Revision: 8})
	type view struct {
		instance          string
		session           uint64
		draining, drained bool
	}
	var got []view
	for _, w := range b.s.Overview().Workers {
		got = append(got, view{w.Instance, w.Session, w.Draining, w.Drained})
	}
	if want := []view{{"w200", 200, false, true}, {"w201", 201, true, false}, {"w300", 0, false, true}}; !slices.Equal(got,
		want) {
		t.Errorf("%+v", got)
	}
}

func TestWatching(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	states := func(effects []Effect) (all []State) {
		for _, m := range findAll[TaskChanged](effects) {
			all = append(all, m.Info.State)
			if (m.Outcome != nil) != (m.Info.State == StateSucceeded) {
				t.Errorf("%+v", m)
			}
		}
		return all
	}
	check := func(what string, effects []Effect, want ...State) {
		t.Helper()
		if got := states(effects); !slices.Equal(got, want) {
			t.Errorf("%s: %v, and not %v", what, got, want)
		}
	}
	b.submit("x", Policy{}, nil)
	check("asked", b.s.Step(b.now, Watched{"x", time.Minute}, nil), StatePending)
	push := b.pass(0)
	check("handed out", push, StateRunning)
	p, _ := find[Assign](push)
	check("progress", b.step(Progressed{Session: 200, ID: "x", Attempt: p.List[0].Attempt, Ran: 1, Fraction: 0.1}),
		StateRunning)
	effects := b.step(Done{Session: 200, ID: "x", Attempt: p.List[0].Attempt, Result: Result{Verb: Failed}})
	check("failed", effects, StateRetrying)
	check("noted", b.storeAll(effects), StateRetrying)
	push = b.pass(30 * time.Second)
	p, _ = find[Assign](push)
	effects = b.step(Done{Session: 200, ID: "x", Attempt: p.List[0].Attempt, Result: Result{Verb: Succeeded}})
	b.step(Watched{"x", time.Minute})
	check("ended", b.storeAll(effects), StateSucceeded)
	if b.s.Watching("x") {
		t.Error("it is still watched")
	}
	b.submit("y", Policy{}, nil)
	b.s.Step(b.now, Watched{"y", time.Minute}, nil)
	b.now = b.now.Add(time.Hour)
	check("too late", b.pass(0))
}

// TestFeed: while all tasks are watched, what can be seen of any of them from outside is told, and
// their progress is not.
func TestFeed(t *testing.T) {
	b := readyDriver(t, SchedulerConfig{}, idle(200, 1))
	check := func(what string, effects []Effect, want ...string) {
		t.Helper()
		var told []string
		for _, m := range findAll[TaskChanged](effects) {
			told = append(told, m.Info.ID+" "+string(m.Info.State))
		}
		expect(t, what, told, want...)
	}
	b.submit("before", Policy{}, nil)
	first := b.pass(0)
	check("unwatched", append(b.out, first...))
	b.s.Step(b.now, Watched{"", time.Hour}, nil)
	check("ended", b.storeAll(b.accept(first, "before")), "before succeeded")
	b.out = nil
	b.submit("x", Policy{}, nil)
	check("submitted", b.out, "x pending")
	push, _ := find[Assign](b.pass(0))
	a := push.List[0]
	check("accepted", b.step(Answered{200, push.Frame, []Answer{{a.ID, a.Attempt, Accepted}}}), "x running")
	check("progress", b.step(Progressed{Session: 200, ID: "x", Attempt: a.Attempt, Ran: 1, Fraction: 0.1}))
	effects := b.step(Done{Session: 200, ID: "x", Attempt: a.Attempt, Result: Result{Verb: Failed}})
	check("failed", effects, "x retrying")
	check("noted", b.storeAll(effects))
	push, _ = find[Assign](b.pass(30 * time.Second))
	a = push.List[0]
	b.step(Answered{200, push.Frame, []Answer{{a.ID, a.Attempt, Accepted}}})
	check("given back", b.step(Done{Session: 200, ID: "x", Attempt: a.Attempt, Result: Result{Verb: Released}}),
		"x pending")
	b.pass(time.Hour)
	b.out = nil
	b.submit("y", Policy{}, nil)
	check("too late", b.out)
}

// TestATaskThatIsEndingSaysSo: the stream knows before the scheduler that its outcome is stored.
func TestATaskThatIsEndingSaysSo(t *testing.T) {
	b := newDriver(t)
	if b.s.Settled() {
		t.Error("settled before anything was read")
	}
	p := b.begin()
	if !b.s.Settled() {
		t.Error("not settled after the second seal")
	}
	ending := func() bool {
		t.Helper()
		page, _ := b.s.List(b.now, 0, Filter{States: []State{StateRunning}}, 10)
		if len(page) != 1 {
			t.Fatalf("%+v", page)
		}
		return page[0].Ending
	}
	if ending() {
		t.Error("it is ending before it has ended")
	}
	w, ok := find[WriteOutcome](b.step(Done{
		Session: 5, ID: "x", Attempt: p.List[0].Attempt,
		Result: Result{Verb: Succeeded},
	}))
	if !ok || !ending() {
		t.Errorf("written: %v, and it looks as if nothing were", ok)
	}
	b.step(Written{Write: w.Write, Outcome: record.Unknown})
	if !ending() {
		t.Error("the outcome may stand in the stream")
	}
	b.step(Settled{ID: "x", Revision: 9})
	if page, _ := b.s.List(b.now, 0, Filter{}, 10); len(page) > 0 {
		t.Errorf("%+v", page)
	}
}

package electionsim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// spreadOut draws a schedule in which the roles are spread: plainly, or over members that differ.
func spreadOut(seed uint64) *Plan {
	p, rng := wild(seed), rand.New(rand.NewPCG(seed, 11))
	p.Spread, p.Sharded, p.Sticky, p.Roles = true, rng.IntN(2) == 0, false, 2+rng.IntN(8)
	weights, caps, some, priorities := seed%3 == 1, seed%5 == 1, seed%4 == 1, seed%7 == 1
	p.Apart = seed%6 == 1
	for i := range p.Members {
		m := &p.Members[i]
		m.Priorities = make([]int, p.Roles)
		if weights {
			m.Capacity = 1 + rng.IntN(3)
		}
		if caps {
			m.MaxRoles = 1 + rng.IntN(p.Roles)
		}
		for r := range p.Roles {
			if some && i > 0 && rng.IntN(3) == 0 {
				m.Without |= 1 << r
			}
			if priorities {
				m.Priorities[r] = rng.IntN(2)
			}
		}
	}
	worker := slices.ContainsFunc(p.Members, func(m MemberPlan) bool { return m.Worker })
	p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool {
		// A worker that has the name of a candidate answers in its place when that is asked.
		return f.Kind == Recreate || f.Kind == Duplicate && worker
	})
	for i := range p.Faults {
		p.Faults[i].Role = rng.IntN(p.Roles)
	}
	return p
}

// TestSpread: E9, and E1 to E8 as ever, with views that are late, members that come and go,
// weights, caps, roles that are to be apart, priorities, and members that take part in some roles
// only.
func TestSpread(t *testing.T) {
	total := play(t, "spread", *first, *schedules/6, spreadOut)
	t.Log(total)
	if total.Schedules < 100 {
		return
	}
	if 4*total.Moves > 5*total.LeastMoves {
		t.Errorf("failed after %d tests: %d moves, %d would do", total.Schedules, total.Moves, total.LeastMoves)
	}
	if 100*total.DealtAgain > total.LedInTime {
		t.Errorf("failed after %d tests: %d of %d roles were led only after a second plan", total.Schedules,
			total.DealtAgain, total.LedInTime)
	}
	if total.Moves < total.Schedules || total.Unplaced < total.Schedules/50 {
		t.Errorf("only %d moves, and %d roles unplaced", total.Moves, total.Unplaced)
	}
}

// TestSpreadSettles: when a process joins, nothing moves for two heartbeats, and then its share
// does. Then nothing moves for an hour.
func TestSpreadSettles(t *testing.T) {
	for seed := range thorough.Pick(uint64(2), 5) {
		w := newWorld(&Plan{Seed: seed, Roles: 9, Single: true, Spread: true})
		w.quiet = true
		plan := &MemberPlan{TTL: 3 * time.Second, Priorities: make([]int, 9)}
		for i := range 2 {
			w.at(time.Duration(i)*time.Millisecond, w.newProcess(i, fmt.Sprintf("p%d", i), plan).start)
		}
		w.runUntil(10 * time.Second)
		joins := w.newProcess(2, "p2", plan)
		w.at(w.now, joins.start)
		before, heartbeat := w.Counts.Moves, plan.TTL/5
		for joins.session == 0 && w.violated == nil {
			w.runUntil(w.now + time.Millisecond)
		}
		w.runUntil(w.now + 2*heartbeat - 20*time.Millisecond)
		if n := w.Counts.Moves - before; n > 0 {
			t.Errorf("seed %d, failed after %d tests: %d roles move before it has settled", seed, seed+1, n)
		}
		w.runUntil(w.now + 10*time.Second)
		if n := w.Counts.Moves - before; n != 3 || w.uneven() != "" {
			t.Errorf("seed %d, failed after %d tests: %d roles move, 3 would do; %s", seed, seed+1, n, w.uneven())
		}
		before = w.Counts.Moves
		w.runUntil(w.now + time.Hour)
		if n := w.Counts.Moves - before; n != 0 || w.violated != nil {
			t.Errorf("seed %d, failed after %d tests: %d roles move within an hour: %v", seed, seed+1, n, w.violated)
		}
	}
}

// TestSpreadAdmits: a process that leads its share takes no role for the sake of balance, and takes
// one that an operator hands to it.
func TestSpreadAdmits(t *testing.T) {
	w := newWorld(&Plan{Seed: 1, Roles: 4, Single: true, Spread: true, Sharded: true})
	w.quiet = true
	plan := &MemberPlan{TTL: time.Second, Priorities: make([]int, 4)}
	for i := range 2 {
		w.at(time.Duration(i)*time.Millisecond, w.newProcess(i, fmt.Sprintf("p%d", i), plan).start)
	}
	w.runUntil(20 * time.Second)
	p, role := w.members[1], ""
	for i := range 4 {
		if w.leader(roleName(i)) == w.members[0] {
			role = roleName(i)
		}
	}
	for _, balance := range []bool{true, false} {
		answers, declined := 0, false
		id := w.command(p, func(d protocol.Done) { answers, declined = answers+1, d.Err != nil })
		p.hand(protocol.Asked{ID: id, Request: protocol.Request{Op: protocol.OpReady, Role: role, Balance: balance}})
		w.runUntil(w.now + time.Second)
		if answers != 1 || declined != balance || w.violated != nil {
			t.Errorf("failed after 1 tests: balance %v: %d answers, declined %v: %v", balance, answers, declined, w.violated)
		}
	}
}

// TestSpreadCountsPromises: what a target has agreed to take counts beside what it leads. It has
// room for one role more, and agrees to one.
func TestSpreadCountsPromises(t *testing.T) {
	w := newWorld(&Plan{Seed: 1, Roles: 3, Single: true, Spread: true, Sharded: true})
	w.quiet = true
	plan := &MemberPlan{TTL: time.Second, Priorities: make([]int, 3), MaxRoles: 2}
	for i := range 2 {
		w.at(time.Duration(i)*time.Millisecond, w.newProcess(i, fmt.Sprintf("p%d", i), plan).start)
	}
	w.runUntil(20 * time.Second)
	led := map[*process][]string{}
	for i := range 3 {
		p := w.leader(roleName(i))
		led[p] = append(led[p], roleName(i))
	}
	target, other := w.members[0], w.members[1]
	if len(led[target]) > 1 {
		target, other = other, target
	}
	if len(led[target]) != 1 || len(led[other]) != 2 {
		t.Fatalf("the roles are not even: %v", led)
	}
	for i, role := range led[other] {
		answers, declined := 0, false
		id := w.command(target, func(d protocol.Done) { answers, declined = answers+1, d.Err != nil })
		target.hand(protocol.Asked{ID: id, Request: protocol.Request{Op: protocol.OpReady, Role: role}})
		w.runUntil(w.now + 50*time.Millisecond)
		if answers != 1 || declined != (i > 0) || w.violated != nil {
			t.Errorf("failed after 1 tests: request %d: %d answers, declined %v: %v", i, answers, declined, w.violated)
		}
	}
}

// TestSpreadDeals: the roles of a process that dies are dealt out evenly at once, so that none
// moves after that.
func TestSpreadDeals(t *testing.T) {
	for seed := range uint64(10) {
		w := newWorld(&Plan{Seed: seed, Roles: 12, Single: true, Spread: true, Sharded: true})
		w.quiet = true
		plan := &MemberPlan{TTL: time.Second, Priorities: make([]int, 12)}
		for i := range 4 {
			w.at(time.Duration(i)*time.Millisecond, w.newProcess(i, fmt.Sprintf("p%d", i), plan).start)
		}
		w.runUntil(20 * time.Second)
		before := w.Counts.Moves
		w.members[1].stop()
		w.runUntil(w.now + 10*time.Second)
		if n := w.Counts.Moves - before; n > 0 || w.uneven() != "" || w.violated != nil {
			t.Errorf("seed %d, failed after %d tests: %d roles move after a crash; %s %v", seed, seed+1, n, w.uneven(),
				w.violated)
		}
	}
}

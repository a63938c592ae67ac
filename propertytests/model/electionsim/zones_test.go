package electionsim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// zoned draws a schedule whose members are in three zones, of which the roles name two.
func zoned(seed uint64) *Plan {
	p, rng := wild(seed), rand.New(rand.NewPCG(seed, 13))
	p.Zones, p.Sticky = []string{"one", "two"}, false
	if seed%4 > 0 {
		p.FailBack = time.Duration(200+rng.IntN(6000)) * time.Millisecond
	}
	for i := range p.Members {
		p.Members[i].Zone = []string{"one", "two", "three"}[rng.IntN(3)]
	}
	worker := slices.ContainsFunc(p.Members, func(m MemberPlan) bool { return m.Worker })
	p.Faults = slices.DeleteFunc(p.Faults, func(f Fault) bool {
		// A worker that has the name of a candidate answers in its place when that is asked. Operators
		// transfer a role to any zone.
		return f.Kind == Duplicate && worker || f.Kind == Transfer
	})
	if seed%2 == 0 {
		for range 1 + rng.IntN(3) {
			p.Faults = append(p.Faults, Fault{
				At: time.Duration(rng.Int64N(int64(Length))), Kind: Steer, Who: rng.IntN(4), Role: rng.IntN(p.Roles),
				For: time.Duration(50e6 + rng.Int64N(8e9)),
			})
		}
	}
	return p
}

// TestZones: E10, and E1 to E8 as ever, with members in several zones, and fail-backs that are
// damped, or never happen.
func TestZones(t *testing.T) {
	total := play(t, "zones", *first, *schedules/6, zoned)
	t.Log(total)
	if total.Schedules < 100 {
		return
	}
	if total.FailBacks < total.Schedules/4 || total.FlappedBack < total.Schedules/100 {
		t.Errorf("only %d fail-backs, of which %d did not last", total.FailBacks, total.FlappedBack)
	}
}

// silenced draws a schedule in which a candidate of a better zone is to get the roles, and its
// leader hears nothing of it just then: the leader's watch stands still for longer than the
// candidate may be silent, and for less than ends a term.
func silenced(seed uint64) *Plan {
	rng := rand.New(rand.NewPCG(seed, 19))
	between := func(a, b time.Duration) time.Duration { return a + time.Duration(rng.Int64N(int64(b-a))) }
	p := &Plan{Seed: seed, Roles: 1 + rng.IntN(3), Zones: []string{"one", "two"}}
	p.FailBack = between(5*time.Second, 9*time.Second)
	for i, ttl := range []time.Duration{between(6*time.Second, MaxTTL), time.Second, time.Second} {
		p.Members = append(p.Members, MemberPlan{
			TTL: ttl, Rate: rng.Int64N(20_000), Priorities: make([]int, p.Roles), Zone: []string{"two", "one", "three"}[i],
		})
	}
	p.Members = p.Members[:2+rng.IntN(2)]
	away := between(time.Second, 3*time.Second)
	due := 2*time.Second + away + p.FailBack
	for role := range p.Roles {
		p.Faults = append(p.Faults, Fault{Kind: PauseRole, At: 2 * time.Second, Who: 1, Role: role, For: away})
	}
	p.Faults = append(p.Faults, Fault{
		Kind: Blind, At: due - between(2*time.Second, 5*time.Second), For: between(3*time.Second, 5*time.Second),
	})
	return p
}

// TestZonesAfterSilence: a candidate of a better zone that was silent when it was to get a role,
// and was heard again in the same session, gets it later.
func TestZonesAfterSilence(t *testing.T) {
	total := play(t, "silenced", *first, *schedules/6, silenced)
	t.Log(total)
	if total.Schedules >= 20 && total.FailBacks < total.Schedules {
		t.Errorf("only %d fail-backs in %d schedules", total.FailBacks, total.Schedules)
	}
}

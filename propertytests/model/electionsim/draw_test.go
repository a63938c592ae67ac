package electionsim

import (
	"math/rand/v2"
	"time"

	"pgregory.net/rapid"
)

// draw draws one schedule, which rapid can shrink. Rapid prefers small numbers and few faults.
func draw(t *rapid.T) *Plan {
	return drawBy(rapid.Uint64().Draw(t, "seed"), func(label string, lo, hi int) int {
		return rapid.IntRange(lo, hi).Draw(t, label)
	})
}

// wild draws a schedule with every number as likely as the next, so with many faults.
func wild(seed uint64) *Plan {
	rng := rand.New(rand.NewPCG(seed, 2))
	return drawBy(seed, func(_ string, lo, hi int) int { return lo + rng.IntN(hi-lo+1) })
}

func drawBy(seed uint64, one func(label string, lo, hi int) int) *Plan {
	ms := func(label string, lo, hi int) time.Duration {
		return time.Duration(one(label, lo, hi)) * time.Millisecond
	}
	p := &Plan{
		Seed: seed, Roles: one("roles", 1, 3), Sticky: one("sticky", 0, 9) == 9,
		Noise: Noise{
			LostRequest: one("lost request", 0, 30), LostReply: one("lost reply", 0, 40), Late: one("late", 0, 30),
			Slow: one("slow", 0, 100), SlowWatch: one("slow watch", 0, 60), Skip: one("skip", 0, 500), Lag: one("lag", 0, 400),
			SlowDrain: one("slow drain", 0, 200), Returns: one("returns", 0, 60),
		},
	}
	for range one("members", 2, 4) {
		m := MemberPlan{
			TTL:      []time.Duration{1000, 1000, 1500, 2000, 3000}[one("ttl", 0, 4)] * time.Millisecond,
			Rate:     int64(one("rate", -30_000, 30_000)),
			Takeover: one("takeover", 0, 1) == 1, VacateUndrained: one("vacate undrained", 0, 9) == 9,
			Worker: len(p.Members) > 1 && one("worker", 0, 7) == 7,
		}
		m.Wide = one("wide", 0, 3) == 3
		if one("rotates", 0, 4) == 4 {
			m.Rotation = ms("rotation", 300, 3000)
		}
		for range p.Roles {
			m.Priorities = append(m.Priorities, one("priority", 0, 3))
		}
		p.Members = append(p.Members, m)
	}
	for range one("faults", 0, 20) {
		f := Fault{
			At: ms("at", 500, int(Length/time.Millisecond)), Kind: FaultKind(one("kind", 0, int(KindCount)-1)),
			Who: one("who", 0, len(p.Members)-1), Role: one("role", 0, p.Roles-1), For: ms("for", 50, 8000),
		}
		if n := len(p.Faults); n > 0 && one("together", 0, 2) == 2 { // misfortunes seldom come alone
			f.At, f.Role = min(p.Faults[n-1].At+ms("apart", 0, 1500), Length), p.Faults[n-1].Role
		}
		p.Faults = append(p.Faults, f)
	}
	// Drawn last, so that what a seed was before it still is.
	again := one("recreations", 0, 29)
	for n := 0; n < again-27; n++ {
		f := Fault{Kind: Recreate, At: ms("at", 100, int(Length/time.Millisecond))}
		if one("early", 0, 1) == 1 { // while others write over nothing, which the next bucket takes
			f.At = ms("at", 100, 2000)
		}
		if n > 0 {
			f.At = min(p.Faults[len(p.Faults)-1].At+ms("apart", 0, 4000), Length)
		}
		if one("gap", 0, 2) > 0 { // else at once
			f.For = ms("for", 0, 3000)
		}
		p.Faults = append(p.Faults, f)
	}
	p.Noise.Again = one("again", 0, 60)
	if one("drift", 0, 9) == 9 { // clocks that drift apart as far as the margin allows for: 1.09 to 0.91 is 1.2
		for i := range p.Members {
			p.Members[i].Rate = []int64{-90_000, 90_000, int64(one("far rate", -90_000, 90_000))}[one("end", 0, 2)]
		}
	}
	return p
}

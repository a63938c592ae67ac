package electionsim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// stepping draws a schedule in which the server's clock steps ahead, often right after something
// else has gone wrong, and twice in a row: then the markers that it has laid are of before.
func stepping(seed uint64) *Plan {
	p, rng := wild(seed), rand.New(rand.NewPCG(seed, 23))
	if seed%3 == 0 {
		p = removing(seed)
	}
	for range 1 + rng.IntN(4) {
		f := Fault{Kind: StepClock, At: time.Duration(rng.Int64N(int64(Length)))}
		if n := len(p.Faults); n > 0 && rng.IntN(4) > 0 {
			f.At = min(p.Faults[rng.IntN(n)].At+time.Duration(rng.Int64N(int64(2*time.Second))), Length)
		}
		p.Faults = append(p.Faults, f)
		if rng.IntN(2) == 0 {
			f.At = min(f.At+time.Duration(rng.Int64N(int64(3*time.Second))), Length)
			p.Faults = append(p.Faults, f)
		}
	}
	return p
}

// forgotten draws a schedule in which a leader is cut off, an operator evicts it by force, and the
// server's clock steps ahead twice before another process starts.
func forgotten(seed uint64) *Plan {
	rng := rand.New(rand.NewPCG(seed, 29))
	at := time.Duration(3e9 + rng.Int64N(1e9))
	soon := func(n time.Duration) time.Duration { return at + time.Duration(rng.Int64N(int64(n))) }
	p := &Plan{Seed: seed, Roles: 1, Single: rng.IntN(2) == 0}
	for range 2 + rng.IntN(2) {
		p.Members = append(p.Members, MemberPlan{TTL: 3 * time.Second, Priorities: []int{0}})
	}
	for who := range p.Members {
		f := Fault{Kind: Crash, Who: who, At: soon(time.Second), For: time.Duration(200e6 + rng.Int64N(1e9))}
		if who == int(seed)%len(p.Members) {
			f = Fault{Kind: []FaultKind{Cut, Blind, Deaf}[rng.IntN(3)], Who: who, At: at, For: 4 * time.Second}
		}
		p.Faults = append(p.Faults, f)
	}
	p.Faults = append(p.Faults, Fault{Kind: Evict, At: at}, Fault{Kind: StepClock, At: soon(time.Second)},
		Fault{Kind: StepClock, At: at + time.Second})
	return p
}

// TestServerClockSteps: no rule takes for granted how long the server keeps what may expire there.
// E1 to E8 hold.
func TestServerClockSteps(t *testing.T) {
	play(t, "forgotten", *first, *schedules/30, forgotten)
	total := play(t, "stepping", *first, *schedules/30, stepping)
	t.Log(total)
	if total.Schedules < 100 {
		return
	}
	if total.MarkersOverLive < 2*total.Schedules || total.Forgotten < total.Schedules {
		t.Errorf("only %d leases of live sessions expired, and %d markers left", total.MarkersOverLive, total.Forgotten)
	}
}

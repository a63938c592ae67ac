package tasksim

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestOutcast: a worker that lives, that is never at rest, and that hears nothing, keeps no task
// from the others, and is named.
func TestOutcast(t *testing.T) {
	t.Parallel()
	var sum Counts
	for i := range *schedules / 5 {
		s := outcastWorld(uint64(i))
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", i, err, s)
		}
		if c.Named == 0 && c.Missed > 0 && c.Seconds > 8 {
			t.Errorf("seed %d: it is not named, and misses %d messages in %d s", i, c.Missed, c.Seconds)
		}
		if most := 4 * (c.Seconds + 8); c.Missed > most {
			t.Errorf("seed %d: it misses %d messages in %d s, more than %d", i, c.Missed, c.Seconds, most)
		}
	}
	t.Logf("%+v", sum)
	if sum.Named == 0 {
		t.Error("it is never named: the run proves nothing")
	}
}

// outcastWorld is one without any other fault: what a lost message leaves with a worker stays there
// as long as that lives.
func outcastWorld(seed uint64) Scenario {
	r := rand.New(rand.NewPCG(seed, 2))
	return Scenario{
		Seed: seed, Processes: 6, Candidates: 1, Outcast: true, Slots: 1 + r.IntN(4), Tasks: 20 + r.IntN(60),
		Lease: time.Second,
		Delay: []time.Duration{time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond}[r.IntN(3)],
		Lag:   30 * time.Millisecond, ReadLag: 3 * time.Millisecond, Faults: 24 * time.Hour,
		Length: 10 * time.Second, Calm: 2 * time.Minute, AtRest: r.IntN(2) == 0,
	}
}

// TestEstranged: a worker that lives, that is never at rest, and that a scheduler cannot reach or
// hear, holds up no take-over. Every task ends, but for those that it runs itself and cannot
// report.
func TestEstranged(t *testing.T) {
	t.Parallel()
	var sum Counts
	for i := range *schedules {
		s := estrangedWorld(uint64(i))
		s.Trace, s.Story = *trace, story()
		c, err := Run(s)
		sum.Add(c)
		if err != nil {
			t.Fatalf("seed %d: %v\n%+v", i, err, s)
		}
	}
	t.Logf("%+v", sum)
	if sum.Words == 0 || sum.Unheard == 0 || sum.Missed == 0 || sum.Adopted == 0 {
		t.Error("the run proves nothing")
	}
}

// estrangedWorld is one with take-overs, and hardly any other fault.
func estrangedWorld(seed uint64) Scenario {
	r := rand.New(rand.NewPCG(seed, 3))
	return Scenario{
		Seed: seed, Processes: 4, Candidates: 2 + r.IntN(3), Estranged: true, Slots: 1 + r.IntN(4), Tasks: 20 + r.IntN(60),
		Lease: time.Second,
		Delay: []time.Duration{time.Millisecond, 30 * time.Millisecond, 100 * time.Millisecond}[r.IntN(3)],
		Loss:  float64(r.IntN(3)) / 20, Lag: 30 * time.Millisecond, ReadLag: 3 * time.Millisecond, Faults: 24 * time.Hour,
		Deposed: []float64{0, 0.1, 0.3}[r.IntN(3)], Rotated: []float64{0, 0.1}[r.IntN(2)],
		Length: 10 * time.Second, Calm: time.Minute, AtRest: r.IntN(2) == 0,
	}
}

package tasksim

import (
	"testing"
	"time"
)

// TestCrashAtEveryEffect lets the process of the scheduler crash after each of its effects in turn, in a world without
// other faults: whatever was written, sent or answered before it, the next scheduler goes on from there.
func TestCrashAtEveryEffect(t *testing.T) {
	quiet := Scenario{
		Seed: 5, Processes: 3, Candidates: 3, Slots: 2, Tasks: 10, Lease: time.Second, Delay: 5 * time.Millisecond,
		Lag: 30 * time.Millisecond, ReadLag: 3 * time.Millisecond, Faults: time.Hour, Length: 3 * time.Second,
		Calm: 5 * time.Minute, Recurring: true,
	}
	c, err := Run(quiet)
	if err != nil {
		t.Fatal(err)
	}
	step := 1
	if testing.Short() {
		step = 10
	}
	n := 0
	for at := 1; at <= c.Effects; at += step {
		s := quiet
		s.CrashAt = at
		got, err := Run(s)
		if err != nil {
			t.Fatalf("crash after effect %d of %d: %v", at, c.Effects, err)
		}
		if got.Crashes == 0 {
			t.Fatalf("no crash after effect %d", at)
		}
		n++
	}
	t.Logf("%d crashes, after each of %d effects", n, c.Effects)
}

// TestPoison: a task that kills every process that runs it ends dead, though it takes the scheduler down with it, and though
// there may be nobody else.
func TestPoison(t *testing.T) {
	for _, processes := range []int{1, 2, 3} {
		for seed := range uint64(40) {
			c, err := Run(Scenario{
				Seed: seed, Processes: processes, Candidates: processes, Slots: 2, Tasks: 4, Lease: time.Second,
				Delay: 5 * time.Millisecond, Lag: 30 * time.Millisecond, ReadLag: 3 * time.Millisecond, Faults: time.Hour,
				Length: 4 * time.Second, Calm: 5 * time.Minute, Poison: true,
			})
			if err != nil {
				t.Fatalf("%d processes: %v", processes, err)
			}
			// Three lost workers end it. One more is lost before anybody suspects it, in the beginning; after every term that has
			// ended in peace another one, and what that term had not noticed yet.
			if c.Crashes > 4+2*c.Rests {
				t.Errorf("%d processes, seed %d: %d crashes", processes, seed, c.Crashes)
			}
		}
	}
}

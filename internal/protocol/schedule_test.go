package protocol

import (
	"testing"

	"pgregory.net/rapid"
)

type sleeper struct{ alarm alarm }

func (s *sleeper) clock() *alarm { return &s.alarm }

// TestSchedule compares the schedule with a list that is searched: everything comes up once, when it is due and not before,
// however its alarm was moved.
func TestSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s schedule[*sleeper]
		all := make([]*sleeper, 8)
		for i := range all {
			all[i] = &sleeper{alarm{never, never}}
		}
		now := Instant(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if x := all[rapid.IntRange(0, len(all)-1).Draw(t, "who")]; rapid.Bool().Draw(t, "set") {
				at := now + Instant(rapid.IntRange(1, 50).Draw(t, "in"))
				if rapid.IntRange(0, 9).Draw(t, "never") == 0 {
					at = never
				}
				s.set(x, at)
			}
			next := never
			for _, x := range all {
				next = min(next, x.alarm.at)
			}
			if s.next() > next {
				t.Fatalf("wants to look at %d, %d is due", s.next(), next)
			}
			now += Instant(rapid.IntRange(0, 20).Draw(t, "pass"))
			due := map[*sleeper]bool{}
			for _, x := range all {
				due[x] = x.alarm.at <= now
			}
			for x, ok := s.pop(now); ok; x, ok = s.pop(now) {
				if !due[x] {
					t.Fatal("came up before its time, or twice")
				}
				due[x] = false
			}
			for _, left := range due {
				if left {
					t.Fatal("did not come up")
				}
			}
			if s.next() <= now {
				t.Fatal("still wants to look at the past")
			}
		}
	})
}

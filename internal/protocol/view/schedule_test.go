package view

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

type sleeper struct{ alarm alarm }

func (s *sleeper) clock() *alarm { return &s.alarm }

// TestSchedule compares the schedule with a list that is searched: everything comes up once, when
// it is due and not before, however its alarm was moved.
func TestSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s Schedule[*sleeper]
		all := make([]*sleeper, 8)
		for i := range all {
			all[i] = &sleeper{alarm{Never, Never}}
		}
		now := record.Instant(0)
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if x := all[rapid.IntRange(0, len(all)-1).Draw(t, "who")]; rapid.Bool().Draw(t, "set") {
				at := now + record.Instant(rapid.IntRange(1, 50).Draw(t, "in"))
				if rapid.IntRange(0, 9).Draw(t, "never") == 0 {
					at = Never
				}
				s.Set(x, at)
			}
			next := Never
			for _, x := range all {
				next = min(next, x.alarm.At)
			}
			if s.Next() > next {
				t.Fatalf("wants to look at %d, %d is due", s.Next(), next)
			}
			now += record.Instant(rapid.IntRange(0, 20).Draw(t, "pass"))
			due := map[*sleeper]bool{}
			for _, x := range all {
				due[x] = x.alarm.At <= now
			}
			for x, ok := s.Pop(now); ok; x, ok = s.Pop(now) {
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
			if s.Next() <= now {
				t.Fatal("still wants to look at the past")
			}
		}
	})
}

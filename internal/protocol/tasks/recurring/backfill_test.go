package recurring

import (
	"testing"
	"time"
)

func TestBetween(t *testing.T) {
	for name, c := range map[string]struct {
		from, to time.Time
		limit    int
		want     int // how many, from the first full minute
		next     time.Time
	}{
		"both ends count":      {at(1, 0), at(3, 0), 10, 3, time.Time{}},
		"between two ticks":    {at(0, 1), at(3, 59), 10, 3, time.Time{}},
		"more than the limit":  {at(1, 0), at(9, 0), 4, 4, at(5, 0)},
		"as many as the limit": {at(1, 0), at(4, 30), 4, 4, time.Time{}},
		"none":                 {at(1, 1), at(1, 59), 4, 0, time.Time{}},
		"the wrong way round":  {at(5, 0), at(1, 0), 4, 0, time.Time{}},
	} {
		list, next := Between(fullMinutes{}, c.from, c.to, c.limit)
		if len(list) != c.want || !next.Equal(c.next) || c.want > 0 && !list[0].Equal(at(1, 0)) {
			t.Errorf("%s: %v, then %v", name, list, next)
		}
	}
	counted := &countedMinutes{}
	list, next := Between(counted, noon.AddDate(-500, 0, 0), noon, 1000)
	if len(list) != 1000 || next.IsZero() || counted.n != 1001 {
		t.Errorf("centuries: %d ticks, %d steps", len(list), counted.n)
	}
}

// TestWhatIsPast: ticks that a scheduler may still submit are left to it.
func TestWhatIsPast(t *testing.T) {
	stored, now := at(5, 0), at(9, 30)
	for name, c := range map[string]struct {
		d      Definition
		passed time.Time
		want   time.Time
	}{
		"a new definition":                {Definition{}, time.Time{}, at(5, 0)},
		"one that continues":              {Definition{Since: at(2, 0)}, time.Time{}, at(2, 0)},
		"the last tick":                   {Definition{Since: at(2, 0)}, at(8, 0), at(8, 0)},
		"the tick of a former definition": {Definition{}, at(4, 0), at(5, 0)},
		"paused":                          {Definition{Paused: true, Since: at(2, 0)}, at(3, 0), now},
	} {
		if got := c.d.Past(stored, c.passed, now); !got.Equal(c.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

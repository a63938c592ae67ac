package recurring

import "testing"

// TestWhichDefinitionFollows: one of a higher version stays, and the same schedule continues from
// where it began.
func TestWhichDefinitionFollows(t *testing.T) {
	first := Definition{Version: 2, Schedule: "@hourly"}
	same, ok := Definition{Version: 2, Schedule: "@hourly"}.Over(first, at(5, 0))
	if !ok || !same.Start(at(9, 0)).Equal(at(5, 0)) {
		t.Errorf("the same schedule: %+v, %t", same, ok)
	}
	later, ok := Definition{Version: 3, Schedule: "@hourly"}.Over(same, at(9, 0))
	if !ok || later.Version != 3 || !later.Start(at(10, 0)).Equal(at(5, 0)) {
		t.Errorf("a later version: %+v, %t", later, ok)
	}
	if lower, ok := (Definition{Version: 2, Schedule: "@daily"}).Over(later, at(10, 0)); ok || lower != later {
		t.Errorf("a lower version replaces a higher one: %+v", lower)
	}
	other, ok := Definition{Version: 3, Schedule: "@daily", Since: at(1, 0)}.Over(later, at(10, 0))
	if !ok || !other.Start(at(11, 0)).Equal(at(11, 0)) {
		t.Errorf("another schedule: %+v, %t", other, ok)
	}
}

// TestADefinitionOfTheFuture counts from when it was stored: nothing would be fired for years.
func TestADefinitionOfTheFuture(t *testing.T) {
	d := Definition{Since: at(30, 0)}
	if start := d.Start(at(10, 0)); !start.Equal(at(10, 0)) {
		t.Errorf("ticks count from %v", start)
	}
}

// TestAPauseOutlivesARedefinition, and what comes meanwhile is not caught up with.
func TestAPauseOutlivesARedefinition(t *testing.T) {
	first := Definition{Schedule: "@every 10m"}
	paused := first.Pause(at(0, 0))
	if !paused.Paused || !paused.Start(at(3, 0)).Equal(at(0, 0)) {
		t.Errorf("paused: %+v", paused)
	}
	again, ok := Definition{Schedule: "@every 10m"}.Over(paused, at(3, 0))
	if !ok || !again.Paused {
		t.Errorf("defined again: %+v, %t", again, ok)
	}
	other, ok := Definition{Schedule: "@daily"}.Over(paused, at(3, 0))
	if !ok || !other.Paused || !other.Anchor(at(4, 0)).Equal(at(4, 0)) {
		t.Errorf("with another schedule: %+v, %t", other, ok)
	}
	resumed := again.Resume(at(5, 0))
	if resumed.Paused || !resumed.Start(at(25, 0)).Equal(at(25, 0)) || !resumed.Anchor(at(25, 0)).Equal(at(0, 0)) {
		t.Errorf("resumed: %+v", resumed)
	}
	if next, ok := (Definition{Schedule: "@every 10m"}).Over(resumed, at(25, 0)); !ok ||
		!next.Start(at(30, 0)).Equal(at(25, 0)) || !next.Anchor(at(30, 0)).Equal(at(0, 0)) {
		t.Errorf("defined again after that: %+v, %t", next, ok)
	}
}

package recurring_test

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

func at(minute int) time.Time {
	return time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC)
}

// TestWhichDefinitionFollows: one of a higher version stays, and the same schedule continues from
// where it began.
func TestWhichDefinitionFollows(t *testing.T) {
	first := recurring.Definition{Version: 2, Schedule: "@hourly"}
	same, ok := recurring.Definition{Version: 2, Schedule: "@hourly"}.Over(first, at(5))
	if !ok || !same.Start(at(9)).Equal(at(5)) {
		t.Errorf("the same schedule: %+v, %t", same, ok)
	}
	later, ok := recurring.Definition{Version: 3, Schedule: "@hourly"}.Over(same, at(9))
	if !ok || later.Version != 3 || !later.Start(at(10)).Equal(at(5)) {
		t.Errorf("a later version: %+v, %t", later, ok)
	}
	if lower, ok := (recurring.Definition{Version: 2, Schedule: "@daily"}).Over(later, at(10)); ok || lower != later {
		t.Errorf("a lower version replaces a higher one: %+v", lower)
	}
	other, ok := recurring.Definition{Version: 3, Schedule: "@daily", Since: at(1)}.Over(later, at(10))
	if !ok || !other.Start(at(11)).Equal(at(11)) {
		t.Errorf("another schedule: %+v, %t", other, ok)
	}
}

// TestADefinitionOfTheFuture counts from when it was stored: nothing would be fired for years.
func TestADefinitionOfTheFuture(t *testing.T) {
	d := recurring.Definition{Since: at(30)}
	if start := d.Start(at(10)); !start.Equal(at(10)) {
		t.Errorf("ticks count from %v", start)
	}
}

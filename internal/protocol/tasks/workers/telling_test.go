package workers

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// TestTelling: a worker says what it holds when nobody has confirmed within the wait to have heard
// it, once for each scheduler that takes over.
func TestTelling(t *testing.T) {
	const start, wait = tasks.Instant(time.Hour), time.Second
	late := start.Add(time.Hour)
	k := NewTelling(wait)
	if k.Tell(late) || k.Due() != never {
		t.Error("told, and nobody leads")
	}
	k.Lead(start)
	if k.Tell(start.Add(wait-1)) || k.Due() != start.Add(wait) {
		t.Errorf("told before its time, or due at %v", k.Due())
	}
	if !k.Tell(start.Add(wait)) || k.Tell(late) {
		t.Error("not told once")
	}
	k.Lead(late)
	k.Heard()
	if k.Tell(late.Add(time.Hour)) || k.Due() != never {
		t.Error("told to a scheduler that has heard the answer")
	}
	k.Lead(late)
	if !k.Tell(late.Add(wait)) {
		t.Error("not told to the next one")
	}
}

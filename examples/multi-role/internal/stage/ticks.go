package stage

import (
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// ticks is the result of the recurring task.
type ticks struct {
	Fired   int `json:"fired"`   // tasks that have succeeded, each for another second
	Left    int `json:"left"`    // tasks that have not
	Missing int `json:"missing"` // seconds between the first and the last without a task
}

// countTicks counts the tasks of a recurrence, given by the second of each.
func countTicks(states map[time.Time]assign.State) (t ticks) {
	var first, last time.Time
	for second, state := range states {
		if state == assign.StateSucceeded {
			t.Fired++
		} else {
			t.Left++
		}
		if first.IsZero() || second.Before(first) {
			first = second
		}
		if second.After(last) {
			last = second
		}
	}
	if len(states) > 0 {
		t.Missing = int(last.Sub(first)/time.Second) + 1 - len(states)
	}
	return t
}

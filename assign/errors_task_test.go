package assign_test

import (
	"testing"

	"github.com/rolemanager/rolemanager/assign"
)

// TestTaskErrorCounts: one attempt is "1 attempt".
func TestTaskErrorCounts(t *testing.T) {
	for attempts, want := range map[int]string{
		1: "assign: task failed for good: x after 1 attempt (permanent): no image",
		2: "assign: task failed for good: x after 2 attempts (permanent): no image",
	} {
		err := &assign.TaskError{
			ID: "x", Status: assign.StateDead, Cause: "permanent", Message: "no image", Attempts: attempts,
		}
		if err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

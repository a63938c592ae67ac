package assign

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// TestFaultsOfABatch: one line for each cause, however many inputs it has stopped.
func TestFaultsOfABatch(t *testing.T) {
	faults := make([]error, 1000)
	for i := range faults {
		switch {
		case i%10 == 3:
			faults[i] = fmt.Errorf("submit t%d: %w", i, context.DeadlineExceeded)
		case i == 7:
			faults[i] = fmt.Errorf("submit t%d: %w", i, ErrTooLarge)
		}
	}
	err := joinFaults(faults)
	want := "input 3 and 99 others: submit t3: context deadline exceeded\ninput 7: submit t7: assign: input too large"
	if err == nil || err.Error() != want || !errors.Is(err, ErrTooLarge) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if err := joinFaults(make([]error, 3)); err != nil {
		t.Error(err)
	}
}

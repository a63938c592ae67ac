package worker

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// TestTimeoutIsNamed: an attempt that took too long says how long it might take.
func TestTimeoutIsNamed(t *testing.T) {
	ctx, cancel := attemptBounds{timeout: time.Millisecond}.limit(t.Context())
	defer cancel()
	<-ctx.Done()
	cause := context.Cause(ctx)
	if !errors.Is(cause, taskerr.ErrTimeout) || !strings.HasSuffix(cause.Error(), "longer than its timeout of 1ms") {
		t.Errorf("the cause is %v", cause)
	}
}

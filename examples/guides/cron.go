package guides

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// report runs once for each tick.
var report = assign.NewKind[string, string]("report.v1", assign.MaxAttempts(3))

// schedule defines two recurrences. It may be called whenever a program starts: the same definition
// is stored once.
func schedule(ctx context.Context, in assign.Submitter) error {
	err := assign.Recur(ctx, in, report, "nightly", "30 2 * * *", "all accounts", assign.InZone("Europe/Berlin"))
	if err != nil {
		return err
	}
	return assign.Recur(ctx, in, report, "pulse", "@every 1s", "one account",
		assign.RecurWith(assign.Timeout(10*time.Second)))
}

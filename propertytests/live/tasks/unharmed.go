package tasks

import (
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/assign"
)

// checkUnharmed reports, after a storm in which processes only came and went cleanly, every
// task that is dead for that, and every worker that counts as lost: none was, and nothing that was
// given back counts as a failure.
func (a *Arena) checkUnharmed() {
	a.TB.Helper()
	if n := a.Tally.Count("rerun/worker_lost"); n > 0 {
		a.TB.Errorf("%d tasks are run again for a lost worker, and none was lost\n%s", n, a.Lately())
	}
	for id, history := range a.RecordLog.Records() {
		for i := range history {
			o := history[i].Outcome
			if o == nil || o.Status != "dead" {
				continue
			}
			if err := a.deserved(id, o); err != nil {
				a.TB.Errorf("%s: %v\n%s%s", id, err, a.History(id), a.Lately())
				return
			}
		}
	}
}

// deserved reports why a task is dead that should not be.
func (a *Arena) deserved(id string, o *Outcome) error {
	failures := 0
	for _, r := range a.Ledger.Of(id) {
		if r.How != assign.ErrDraining.Error() && r.How != succeeded {
			failures++
		}
	}
	switch least := attemptsOf[o.Kind]; {
	case o.Cause == "worker_lost":
		return errors.New("it is dead since its workers were lost, and none was")
	case o.Cause == "max_attempts" && failures < least:
		return fmt.Errorf("it is dead after %d failures, and may have %d", failures, least)
	}
	return nil
}

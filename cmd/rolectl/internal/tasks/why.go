package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// lookAgain is how often watchReasons asks. A task that ends sooner is not asked about.
const lookAgain = time.Second

// watchReasons reports why a task waits, whenever the reason changes; "" when it no longer waits.
func (t *scope) watchReasons(ctx context.Context, c *assign.Client, id string, tell chan<- string) {
	look := time.NewTicker(lookAgain)
	defer look.Stop()
	last := ""
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
		why, err := t.waitReason(ctx, c, id)
		if err != nil || why == last { // the caller, which waits for the task, returns lasting errors
			continue
		}
		last = why
		select {
		case tell <- why:
		case <-ctx.Done():
			return
		}
	}
}

// waitReason returns why a task waits, and what would end the wait.
func (t *scope) waitReason(ctx context.Context, c *assign.Client, id string) (string, error) {
	s, err := assign.Get(ctx, c, id)
	if err != nil {
		return "", err
	}
	switch {
	case s.State == assign.StateDelayed:
		return "it is not due before " + s.Due.Format(time.RFC3339), nil
	case s.State == assign.StateRetrying:
		return fmt.Sprintf("attempt %d has failed, the next is due at %s", s.Attempts, s.Due.Format(time.RFC3339)), nil
	case s.State != assign.StatePending:
		return "", nil
	case s.Reason != "":
		return t.explainReason(s), nil
	}
	if _, err = inventory.Overview(ctx, t.Conn, c, t.namespace); errors.Is(err, assign.ErrNoScheduler) {
		return "no scheduler answers: start a process that leads the scheduler role; one that has crashed holds it until " +
			"its lease ends (rolectl doctor)", nil
	}
	return "", err
}

// explainReason puts a reason of the scheduler into words, with a fix if the reason does not pass
// with time.
func (t *scope) explainReason(s assign.TaskStatus) string {
	text, fix, ok := findings.Advice(t.namespace, s.Kind, s.Reason)
	if !ok {
		return wording.Words(string(s.Reason))
	}
	return text + ": " + fix
}

package bridge

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/fencing"
)

// TaskRun is what a task knows of its own attempt.
type TaskRun struct {
	ID         string
	Kind       string
	Attempt    int // counts attempts that ran, from 1
	Token      fencing.Token
	Trace      string
	Headers    map[string]string // the submitter's, nil for none; nobody changes it
	Checkpoint []byte            // of an earlier attempt, nil for none
	Began      time.Time
	Reporter   Reporter // nil if nobody receives reports of progress
}

// Reporter receives a handler's reports of progress. Checkpoint is nil for none, and belongs to the
// reporter.
type Reporter interface {
	Progress(ctx context.Context, fraction float64, checkpoint []byte) error
}

var (
	// FillTask gives a *assign.Task its run. Package assign sets it.
	FillTask func(task any, r TaskRun)
	// RunOf is the run of a *assign.Task. Package assign sets it.
	RunOf func(task any) TaskRun
)

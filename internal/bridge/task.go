package bridge

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/fencing"
)

// TaskRun is what a task knows of the attempt that it is.
type TaskRun struct {
	ID         string
	Kind       string
	Attempt    int // counts attempts that ran, from 1
	Token      fencing.Token
	Trace      string
	Headers    map[string]string // of the submitter's, nil for none; nobody changes it
	Checkpoint []byte            // of an earlier attempt, nil for none
	Began      time.Time
	Reporter   Reporter // nil: nobody hears of progress
}

// Reporter takes what a handler says of its progress. Checkpoint is nil for none, and the reporter's.
type Reporter interface {
	Progress(ctx context.Context, fraction float64, checkpoint []byte) error
}

var (
	// FillTask gives a *assign.Task its run. Package assign sets it.
	FillTask func(task any, r TaskRun)
	// RunOf is the run of a *assign.Task. Package assign sets it.
	RunOf func(task any) TaskRun
)

package bridge

import (
	"time"

	"github.com/rolemanager/rolemanager/fencing"
)

// TaskRun is what a task knows of the attempt that it is.
type TaskRun struct {
	ID      string
	Kind    string
	Attempt int // counts attempts that ran, from 1
	Token   fencing.Token
	Trace   string
	Began   time.Time
}

// FillTask gives a *assign.Task its run. Package assign sets it.
var FillTask func(task any, r TaskRun)

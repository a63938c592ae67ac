package assigntest

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

var made atomic.Uint64

// Option says what a task of NewTask is like.
type Option func(*bridge.TaskRun)

// ID names the task (task-1, task-2, …).
func ID(id string) Option { return func(r *bridge.TaskRun) { r.ID = id } }

// Kind names its kind (test).
func Kind(name string) Option { return func(r *bridge.TaskRun) { r.Kind = name } }

// Attempt is which attempt it is (1).
func Attempt(n int) Option { return func(r *bridge.TaskRun) { r.Attempt = n } }

// TraceParent is what [assign.Task.TraceParent] returns.
func TraceParent(t string) Option { return func(r *bridge.TaskRun) { r.Trace = t } }

// NewTask returns a task as a handler gets it. Its fencing token is later than those of all tasks that were made before in
// this process, so that a guard admits it.
func NewTask[In any](tb testing.TB, in In, opts ...Option) *assign.Task[In] {
	tb.Helper()
	n := made.Add(1)
	r := bridge.TaskRun{ID: fmt.Sprint("task-", n), Kind: "test", Attempt: 1, Began: time.Now()}
	for _, o := range opts {
		o(&r)
	}
	if r.Attempt < 1 || r.ID == "" {
		tb.Fatalf("assigntest: task %q, attempt %d: use an id, and attempts from 1", r.ID, r.Attempt)
	}
	r.Token = fencing.NewToken("task/"+r.ID, "assigntest", n, uint32(r.Attempt), uuid.New())
	t := &assign.Task[In]{Input: in}
	bridge.FillTask(t, r)
	return t
}

package assigntest

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

var made atomic.Uint64

// Option changes the task that [NewTask] makes.
type Option func(*bridge.TaskRun)

// ID names the task. Default task-1, task-2, ….
func ID(id string) Option { return func(r *bridge.TaskRun) { r.ID = id } }

// Kind names the task's kind. Default "test".
func Kind(name string) Option { return func(r *bridge.TaskRun) { r.Kind = name } }

// Attempt is the number of the attempt. Default 1.
func Attempt(n int) Option { return func(r *bridge.TaskRun) { r.Attempt = n } }

// TraceParent is what [assign.Task.TraceParent] returns.
func TraceParent(t string) Option { return func(r *bridge.TaskRun) { r.Trace = t } }

// Header is a header that the submitter gave.
func Header(key, value string) Option {
	return func(r *bridge.TaskRun) {
		r.Headers = maps.Clone(r.Headers)
		if r.Headers == nil {
			r.Headers = map[string]string{}
		}
		r.Headers[key] = value
	}
}

// Checkpoint is the checkpoint that an earlier attempt left.
func Checkpoint(data []byte) Option { return func(r *bridge.TaskRun) { r.Checkpoint = data } }

// NewTask returns a task as a handler gets it. Its fencing token is later than the tokens of all
// tasks made earlier in this process, so that a guard admits it. The progress that the handler
// reports is kept for [Progress].
func NewTask[In any](tb testing.TB, in In, opts ...Option) *assign.Task[In] {
	tb.Helper()
	n := made.Add(1)
	r := bridge.TaskRun{ID: fmt.Sprint("task-", n), Kind: "test", Attempt: 1, Began: time.Now(), Reporter: &recorder{}}
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

// Report is one call of [assign.Task.Progress].
type Report struct {
	Fraction float64
	// Checkpoint is nil when there was none.
	Checkpoint []byte
}

// Progress returns the progress that the handler of a task of [NewTask] has reported, in order.
func Progress[In any](t *assign.Task[In]) []Report {
	r, ok := bridge.RunOf(t).Reporter.(*recorder)
	if !ok {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Report(nil), r.reports...)
}

// recorder stores every checkpoint at once.
type recorder struct {
	mu      sync.Mutex
	reports []Report
}

func (r *recorder) Progress(_ context.Context, fraction float64, checkpoint []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reports = append(r.reports, Report{fraction, checkpoint})
	return nil
}

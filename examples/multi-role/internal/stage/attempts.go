package stage

import (
	"context"
	"strings"
	"sync/atomic"

	"github.com/rolemanager/rolemanager/assign"
)

// attempts counts those at one task that began in this process.
type attempts struct{ begun, resumed int }

// countAttempts is the middleware of an instance. It counts the attempts that begin and those that
// run, and takes each end as a sign of life.
func (j *job) countAttempts(running *atomic.Int32) assign.Middleware {
	return func(next assign.HandlerFunc) assign.HandlerFunc {
		return func(ctx context.Context, t *assign.Task[[]byte]) ([]byte, error) {
			if recurs(t.ID()) {
				return next(ctx, t)
			}
			j.started(t.ID(), t.Checkpoint() != nil)
			defer j.signOfLife()
			running.Add(1)
			defer running.Add(-1)
			return next(ctx, t)
		}
	}
}

// recurs reports whether that is a task of a recurrence, which nobody has submitted.
func recurs(id string) bool { return strings.HasPrefix(id, "cron/") }

func (j *job) started(id string, resumed bool) {
	if !j.owns(id) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	seen := j.seen[id]
	seen.begun++
	if resumed {
		seen.resumed++
	}
	j.seen[id] = seen
}

// reruns counts the attempts at a task beyond the first, and those of them that continued from a
// checkpoint. The scheduler may not know of all: an attempt that vanished together with its
// scheduler was seen by the instance that ran it, and by nobody else.
func (j *job) reruns(o Outcome) (reruns, resumed int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	seen := j.seen[o.Task]
	return max(o.Attempts-1, seen.begun-1, seen.resumed, 0), seen.resumed
}

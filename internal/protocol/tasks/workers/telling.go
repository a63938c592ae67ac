package workers

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Telling decides when a worker says in its member record what it holds. A scheduler that takes
// over waits until it knows that, and its question may never come, or the answer be lost for ever:
// by half of an account import, say. A session that lives reaches the bucket.
type Telling struct {
	wait time.Duration
	due  tasks.Instant
}

const never = tasks.Instant(1<<63 - 1)

// NewTelling returns one with nothing to tell. wait is how long a scheduler may take to ask, and to
// say that it has heard the answer.
func NewTelling(wait time.Duration) *Telling { return &Telling{wait: wait, due: never} }

// Lead notes that a scheduler of another epoch is in view.
func (t *Telling) Lead(now tasks.Instant) { t.due = now.Add(t.wait) }

// Heard notes that the scheduler in view waits for nothing: it has confirmed the answer, or it
// hands out tasks.
func (t *Telling) Heard() { t.due = never }

// Tell reports whether the worker is to say now what it holds, once in each epoch.
func (t *Telling) Tell(now tasks.Instant) bool {
	if now < t.due {
		return false
	}
	t.due = never
	return true
}

// Due is when there may be something to tell.
func (t *Telling) Due() tasks.Instant { return t.due }

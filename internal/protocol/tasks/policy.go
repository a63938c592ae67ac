package tasks

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
)

// Policy is how a task wants to be treated. It travels with the submission, so the scheduler need
// not know the kind; tasks submitted alike share one, whenever they are due and expire.
type Policy struct {
	Kind        string
	MaxAttempts int           // failures, after which the task is dead
	CrashBudget int           // lost workers, after which it is dead, 0: as the scheduler says
	Timeout     time.Duration // of one attempt, 0: none
	Backoff     time.Duration // before the second attempt; doubles with each
	MaxBackoff  time.Duration
	Retention   time.Duration // of the outcome,
	Dead        time.Duration // but of one that is dead, 0: likewise
	Priority    int           // -100 to 100; a larger one goes first, see Scheduler on aging
	Weight      int           // slots that it takes, at least 1
	Labels      map[string]string
	Concurrency int     // tasks of the kind that run at once, 0: any number
	Rate        float64 // tasks of the kind that are handed out per second, 0: any number
	KeyLimit    int     // tasks of one Keys.Limit that run at once, at least 1
}

// Times are a task's own, from its submission.
type Times struct {
	Delay    time.Duration // until it is due
	At       time.Time     // when it is due by the stream's clock, zero: after Delay
	Deadline time.Duration // until it expires, 0: never
}

// farthest bounds how long after its submission a task may be due.
const farthest = 10 * 365 * 24 * time.Hour

// Due is when a task is due that was stored at a time, never before that.
func (t Times) Due(stored time.Time) time.Time {
	if t.At.IsZero() {
		return stored.Add(t.Delay)
	}
	if last := stored.Add(farthest); t.At.After(last) {
		return last
	}
	return latest(stored, t.At)
}

// Keys are what a task has of its own, "" for none. Sticky and Limit are at most 256 bytes long,
// the others, an id and a tag 200: the reader of the stream ensures that.
type Keys struct {
	Unique string // the name of its unique record
	Sticky string // tasks of one go to the same worker, as long as it has room
	Limit  string // at most Policy.KeyLimit tasks of one run at once
	Fair   string // the keys of a kind take turns
}

// Recurrence is what is submitted again and again.
type Recurrence struct {
	recurring.Plan
	Name   string
	Policy *Policy
	Body   any // the driver's, not looked at
}

// backoff is the wait after so many failures, +-10 %.
func (p *Policy) backoff(failures int, random func() float64) time.Duration {
	d := p.Backoff
	for range failures - 1 {
		if d *= 2; d >= p.MaxBackoff {
			break
		}
	}
	d = min(d, p.MaxBackoff)
	return time.Duration(float64(d) * (0.9 + 0.2*random()))
}

// keeps is how long an outcome is kept.
func (p *Policy) keeps(status Status) time.Duration {
	if status == StatusDead && p.Dead > 0 {
		return p.Dead
	}
	return p.Retention
}

// briefest is how long an outcome is kept at least, whatever it says.
func (p *Policy) briefest() time.Duration {
	return min(p.keeps(StatusSucceeded), p.keeps(StatusDead))
}

// Verb is how an attempt ended.
type Verb uint8

const (
	Succeeded   Verb = iota + 1
	Failed           // counted; Delay overrides the backoff
	Permanent        // no other attempt would do better
	Snoozed          // wants to be run again after Delay, uncounted
	Released         // given back unfinished, uncounted
	Progressing      // has not ended: how far it is
	Overdue          // its task's deadline has passed by the worker's clock, whatever came of it
	Undecodable      // its worker cannot decode the input, and another one may
)

var verbs = [...]string{
	"", "succeeded", "failed", "permanent", "snoozed", "released", "progressing", "overdue", "undecodable",
}

func (v Verb) String() string { return verbs[v] }

// Result is what a worker reports of an attempt. Body is for the outcome and not looked at.
type Result struct {
	Verb  Verb
	Delay int64 // ns
	Ran   int64 // ns
	Body  any
}

// Status is the terminal state of a task.
type Status string

const (
	StatusSucceeded Status = "succeeded"
	StatusDead      Status = "dead"
	StatusCancelled Status = "cancelled"
	StatusExpired   Status = "expired"
	StatusSkipped   Status = "skipped" // it waited for a task that has not succeeded, or does not exist
)

// Causes of an outcome other than success.
const (
	CausePermanent   = "permanent"
	CauseFailed      = "failed" // of an attempt that another one follows
	CauseMaxAttempts = "max_attempts"
	CauseWorkerLost  = "worker_lost"
	CauseUndecodable = "undecodable" // no worker could decode the input
	CauseCancelled   = "cancelled"
	CauseDeadline    = "deadline"
	CauseUpstream    = "upstream" // of a task that is skipped
	CauseUnclosed    = "unclosed" // of a completion whose members were not all submitted within a day
	CauseOverlap     = "overlap"  // of a task of a recurrence that was cancelled for the next tick
)

// Outcome is the end of a task.
type Outcome struct {
	Status   Status
	Cause    string
	Attempt  Attempt
	Tries    int // attempts that ran
	Instance string
	Ran      int64 // ns, of the last attempt
	Body     any   // of the result, nil when there is none
}

// Retry is what a later attempt must remember, and a later scheduler: it stands in the task's note.
type Retry struct {
	Attempt  Attempt // the largest that has ended; only larger ones count from now on
	Failures int
	Crashes  int
	Snoozes  int
	Wait     time.Duration // until it is due again
	// Started is an attempt that was about to be handed to a worker of the scheduler's own process,
	// zero for none. Both may have died of it: a later scheduler that finds nobody who holds it
	// counts a lost worker, unless the session of that worker lives: Session, 0 in notes of older
	// versions.
	Started Attempt
	Session uint64
	Alone   bool // and that one was to run alone

	// Group, Ran and Blame are the suspicion of a task that has lost a worker.
	Group uint64
	Ran   time.Duration
	Blame int
}

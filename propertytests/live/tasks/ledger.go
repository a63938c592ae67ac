package tasks

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"
)

const succeeded = "succeeded"

// Run is one attempt whose handler was called.
type Run struct {
	Task     string
	Epoch    uint64
	N        uint32
	Process  string // one start of an instance
	Instance string
	Session  uint64
	From, To time.Time // To is zero while it runs
	How      string    // how it ended
	Stubborn time.Duration
	Saved    int // the checkpoint that it was given
	steps    int
}

func (r *Run) String() string {
	end := "runs"
	if !r.To.IsZero() {
		end = r.To.Format("15:04:05.000000") + " " + r.How
	}
	return fmt.Sprintf("%d.%d on %s, session %d: %s to %s", r.Epoch, r.N, r.Process, r.Session,
		r.From.Format("15:04:05.000000"), end)
}

// session is one session of one process, as it tells of it itself.
type session struct {
	process string
	number  uint64
}

// save is a checkpoint that was acknowledged.
type save struct {
	at   time.Time
	step int
}

// Ledger is what handlers and sessions write down about themselves.
type Ledger struct {
	mu     sync.Mutex
	runs   []*Run     // by when they began
	inside int        // handlers that have not returned
	empty  *sync.Cond // inside is 0
	ends   map[session]time.Time
	saved  map[string][]save // by task: the checkpoints that were acknowledged
	faults []error
}

func newLedger() *Ledger {
	l := &Ledger{ends: map[session]time.Time{}, saved: map[string][]save{}}
	l.empty = sync.NewCond(&l.mu)
	return l
}

func (l *Ledger) begin(run Run, checkpoint []byte) *Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &run
	if len(checkpoint) > 0 {
		var err error
		if r.Saved, err = strconv.Atoi(string(checkpoint)); err != nil {
			l.faults = append(l.faults, fmt.Errorf("checkpoint of %s: %w", r.Task, err))
		}
	}
	l.runs = append(l.runs, r)
	l.inside++
	return r
}

// Add takes a run of a process that keeps its own ledger.
func (l *Ledger) Add(r Run) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs, &r)
}

// step is the next checkpoint of an attempt: they count on from what it was given.
func (l *Ledger) step(r *Run) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.steps++
	return r.Saved + r.steps
}

// stored notes that a checkpoint was acknowledged.
func (l *Ledger) stored(r *Run, step int) {
	l.Saved(r.Task, step, time.Now())
}

// Saved notes that a checkpoint of a task was acknowledged before a moment.
func (l *Ledger) Saved(task string, step int, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.saved[task] = append(l.saved[task], save{at, step})
}

func (l *Ledger) end(r *Run, how string, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.To, r.How = at, how
	if l.inside--; l.inside == 0 {
		l.empty.Broadcast()
	}
}

// wait returns when every handler has. Some continue for a while after their session has ended.
func (l *Ledger) wait() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.inside > 0 {
		l.empty.Wait()
	}
}

// Lost notes that a session is over for its own process.
func (l *Ledger) Lost(process string, number uint64, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ends[session{process, number}] = at
}

// Runs are copies of all attempts so far, by when they began.
func (l *Ledger) Runs() []Run {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := make([]Run, len(l.runs))
	for i, r := range l.runs {
		all[i] = *r
	}
	return all
}

// Of are the attempts of one task, by when they began.
func (l *Ledger) Of(task string) []Run {
	return slices.DeleteFunc(l.Runs(), func(r Run) bool { return r.Task != task })
}

package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
)

// errStalled is why a job is given up: its tasks count as lost.
var errStalled = errors.New("no task of the cluster has ended for too long")

// job keeps track of the tasks of all files, from submission to a verdict on each outcome.
type job struct {
	run      string // UUID, the first part of every task id
	files    []walked
	byRel    map[string]walked
	throttle throttle
	stall    time.Duration // after so long without a sign of life from the cluster the job is given up
	alive    *time.Timer   // fires then

	mu      sync.Mutex
	seen    map[string]attempts // by task
	tally   tally
	faults  []string      // what was lost or wrong, for the report
	changed chan struct{} // closed, and replaced, when the tally has changed
}

// tally counts tasks. Each ends up in exactly one of succeeded, failed, wrong and lost; until then
// it is unfinished.
type tally struct {
	Submitted  int `json:"submitted"`
	Succeeded  int `json:"succeeded"`
	Failed     int `json:"failed"`     // ended for good without a digest: the file cannot be read, or is gone
	Wrong      int `json:"wrong"`      // the digest is not that of the file
	Lost       int `json:"lost"`       // no outcome
	Unfinished int `json:"unfinished"` // 0 in the end unless the run was interrupted
	Reruns     int `json:"reruns"`     // attempts beyond the first
	Resumed    int `json:"resumed"`    // reruns that continued from a checkpoint
	Cancelled  int `json:"cancelled"`  // second tasks for a file, not needed any more and not counted elsewhere
}

// done counts the tasks with an outcome.
func (t tally) done() int { return t.Succeeded + t.Failed + t.Wrong }

func newJob(o options, files []walked) *job {
	j := &job{
		run: uuid.NewString(), files: files, byRel: map[string]walked{}, throttle: throttle{rate: o.rate, longer: true},
		seen: map[string]attempts{}, changed: make(chan struct{}),
	}
	for _, f := range files {
		j.byRel[f.Rel] = f
	}
	if o.rate == 0 {
		j.throttle = defaultThrottle(files, o.instances, o.ttl)
	}
	j.stall = 30*time.Second + 10*o.ttl + 2*j.throttle.duration(largest(files))
	j.alive = time.NewTimer(j.stall)
	return j
}

// do submits all files and returns when each has its outcome, or when ctx ends, or when the cluster
// has stalled.
func (j *job) do(ctx context.Context, s Submitter) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	j.signOfLife()
	defer j.alive.Stop()
	go func() { // ends with ctx
		select {
		case <-j.alive.C:
			giveUp(errStalled)
		case <-ctx.Done():
		}
	}()
	var files []File
	for _, f := range j.files {
		files = append(files, f.File)
	}
	s.Submit(ctx, files, func(o Outcome) {
		j.judge(ctx, o)
		j.signOfLife()
	})
}

// signOfLife puts off the moment at which the job is given up. Tasks of other processes count, too:
// they may come first.
func (j *job) signOfLife() { j.alive.Reset(j.stall) }

// owns reports whether that is a task of this job, and not of another process.
func (j *job) owns(id string) bool { return strings.HasPrefix(id, j.run) }

// count changes the tally, and keeps what went wrong.
func (j *job) count(change func(*tally), format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	change(&j.tally)
	if format != "" {
		j.faults = append(j.faults, fmt.Sprintf(format, args...))
	}
	close(j.changed)
	j.changed = make(chan struct{})
}

// progress is the tally so far.
func (j *job) progress() tally {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := j.tally
	t.Unfinished = len(j.files) - t.done() - t.Lost
	return t
}

// hasDone reports whether so many sixths of the tasks are done. If not, that may change when
// changed is closed.
func (j *job) hasDone(sixths int) (done bool, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.tally.done() >= sixths*len(j.files)/6, j.changed
}

// awaitDone waits until so many sixths of the tasks are done.
func (j *job) awaitDone(ctx context.Context, sixths int) error {
	for {
		enough, changed := j.hasDone(sixths)
		if enough {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// problems are what went wrong, one line each.
func (j *job) problems() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.faults)
}

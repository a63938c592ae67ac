package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign"
)

// window is how many tasks of this process are submitted and not done at a time: it bounds memory, not the cluster.
const window = 2048

// errStalled is why a job is given up: its tasks count as lost.
var errStalled = errors.New("no task of the cluster has ended for too long")

// job is one task for each file of the tree, from submission to a verdict on its outcome.
type job struct {
	client *assign.Client
	run    string // UUID, the first part of every task id
	files  []file
	sizes  []int64 // of the files, ascending
	hedged file    // the largest: it gets a second task
	pace   pace
	note   func(format string, args ...any) // tells a person
	stall  time.Duration                    // after so long without a sign of life from the cluster the job is given up
	alive  *time.Timer                      // fires then

	mu      sync.Mutex
	starts  map[string]int // of handlers in this process, by task
	tally   tally
	faults  []string      // what was lost or wrong, for the report
	changed chan struct{} // closed, and replaced, when the tally has changed
}

// tally counts tasks. Each ends up in exactly one of succeeded, failed, wrong and lost; until then it is unfinished.
type tally struct {
	Submitted  int `json:"submitted"`
	Succeeded  int `json:"succeeded"`
	Failed     int `json:"failed"`     // ended for good without a digest: the file cannot be read, or is gone
	Wrong      int `json:"wrong"`      // the digest is not that of the file
	Lost       int `json:"lost"`       // no outcome
	Unfinished int `json:"unfinished"` // not above 0 in the end unless the run was interrupted
	Reruns     int `json:"reruns"`     // attempts beyond the first
	Resumed    int `json:"resumed"`    // of them, those that went on from a checkpoint
	Cancelled  int `json:"cancelled"`  // twins that nobody needed any more; not counted elsewhere
}

// done counts those with an outcome.
func (t tally) done() int { return t.Succeeded + t.Failed + t.Wrong }

func newJob(client *assign.Client, o options, files []file) *job {
	j := &job{
		client: client, run: uuid.NewString(), files: files, pace: pace{rate: o.rate, longer: true},
		starts: map[string]int{}, changed: make(chan struct{}), note: func(string, ...any) {},
	}
	for _, f := range files {
		j.sizes = append(j.sizes, f.size)
		if f.size > j.hedged.size {
			j.hedged = f
		}
	}
	slices.Sort(j.sizes)
	j.files = slices.Clone(files)
	slices.SortStableFunc(j.files, func(a, b file) int { return cmp.Compare(b.size, a.size) }) // so the twin finds a slot, too
	if o.rate == 0 {
		j.pace = defaultPace(files, o.instances, o.ttl)
	}
	j.stall = 30*time.Second + 10*o.ttl + 2*j.pace.duration(largest(files))
	j.alive = time.NewTimer(j.stall)
	return j
}

// started says that an instance of this process begins an attempt at a task, of this job or of another process's.
func (j *job) started(t *assign.Task[checksumIn]) {
	if !j.owns(t.ID()) {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.starts[t.ID()]++
	if t.Checkpoint() != nil {
		j.tally.Resumed++
	}
}

// touch says that some task has ended, of this job or of another process's that is before it in the queue.
func (j *job) touch() { j.alive.Reset(j.stall) }

// do submits the tasks and returns when each has its outcome, or when ctx ends, or when the cluster has stalled.
func (j *job) do(ctx context.Context) {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	j.touch()
	defer j.alive.Stop()
	go func() { // ends with ctx
		select {
		case <-j.alive.C:
			giveUp(errStalled)
		case <-ctx.Done():
		}
	}()

	var tasks errgroup.Group
	tasks.SetLimit(window)
	for _, f := range j.files {
		if ctx.Err() != nil {
			break
		}
		tasks.Go(func() error {
			j.one(ctx, f)
			j.touch()
			return nil
		})
	}
	_ = tasks.Wait() // every outcome is in the tally
}

// one takes one file from submission to verdict. Submitting repeats by itself until the task is stored: it has an id of its
// own, so it is one task however often it is submitted.
func (j *job) one(ctx context.Context, f file) {
	in := checksumIn{Path: f.path, Rate: j.pace.of(f.size)}
	pending, err := assign.Submit(ctx, j.client, checksum, in, assign.WithID(taskID(j.run, f.rel)), assign.WithPriority(j.priority(f)))
	var both *hedge
	if err == nil && f == j.hedged {
		both, err = j.submitTwin(ctx, f, pending)
	}
	if err != nil {
		if !interrupted(ctx) {
			j.count(func(t *tally) { t.Lost++ }, "%s: %v", f.rel, err)
		}
		return
	}
	j.count(func(t *tally) { t.Submitted++ }, "")
	var out checksumOut
	if both != nil {
		out, err = both.wait(ctx, j)
	} else {
		out, err = pending.Wait(ctx)
	}
	j.judge(ctx, f, out, err, j.reruns(ctx, pending))
}

// priority is higher for larger files, 0 to 9: the longest tasks go first, so that none is left for the end.
func (j *job) priority(f file) int {
	smaller, _ := slices.BinarySearch(j.sizes, f.size)
	return 10 * smaller / len(j.sizes)
}

// reruns counts the attempts at a task beyond the first. The outcome knows those that its scheduler knew of; one that
// vanished together with the scheduler that had handed it out was seen by nobody but the instance that ran it, if that is
// in this process.
func (j *job) reruns(ctx context.Context, p *assign.Pending[checksumOut]) int {
	known := 0
	if status, err := p.Status(ctx); err == nil {
		known = status.Attempts
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return max(known, j.starts[p.ID()], 1) - 1
}

// interrupted reports whether ctx has ended because the program is to end.
func interrupted(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), errStalled)
}

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

// owns reports whether that is a task of this job.
func (j *job) owns(id string) bool { return strings.HasPrefix(id, j.run) }

// has reports whether so many sixths of the tasks are done; if not, that may be so when changed is closed.
func (j *job) has(sixths int) (done bool, changed <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.tally.done() >= sixths*len(j.files)/6, j.changed
}

// reached waits until so many sixths of the tasks are done.
func (j *job) reached(ctx context.Context, sixths int) error {
	for {
		enough, changed := j.has(sixths)
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

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/errgroup"

	"github.com/rolemanager/rolemanager/assign"
)

// submitter makes a task of each file and waits for the outcomes. It needs a connection, and takes
// part in nothing.
type submitter struct {
	client *assign.Client
	run    string                   // the first part of every task id: each run has tasks of its own
	rate   func(size int64) float64 // bytes per second at which a file of that size is read, 0 for no limit
	log    func(format string, args ...any)
}

// file is a regular file of a tree.
type file struct {
	Path string // absolute
	Rel  string // below the root of the tree, with slashes
	Size int64
}

// pending is a submitted task.
type pending = assign.Pending[checksumOut]

// outcome is how the task of a file has ended.
type outcome struct {
	file      file
	out       checksumOut
	task      string // id of the task, "" if it could not be submitted
	attempts  int    // that ran, as far as the scheduler knows
	cancelled bool   // a second task for the file was not needed any more
	err       error
}

func newSubmitter(nc *nats.Conn, namespace string, replicas int, run string) (*submitter, error) {
	client, err := assign.NewClient(nc, assign.ClientConfig{
		Namespace: namespace, StreamAutoCreate: true, Replicas: replicas,
	})
	if err != nil {
		return nil, err
	}
	return &submitter{client: client, run: run}, nil
}

// Close ends all waiting.
func (s *submitter) Close() { s.client.Close() }

// submit calls ended for each file when its task has ended, from several goroutines, and returns
// after the last. The end of ctx ends the waiting, and leaves out the files that were not submitted
// yet.
//
// The largest files go first, so that no long task is left for the end. The largest one gets a
// second task.
func (s *submitter) submit(ctx context.Context, files []file, ended func(outcome)) {
	files = slices.Clone(files)
	slices.SortStableFunc(files, func(a, b file) int { return cmp.Compare(b.Size, a.Size) })
	var tasks errgroup.Group
	tasks.SetLimit(2048) // bounds the memory of this process, not the cluster
	for i, f := range files {
		if ctx.Err() != nil {
			break
		}
		hedge := i == 0 && f.Size > 0
		tasks.Go(func() error {
			ended(s.submitOne(ctx, f, 9-10*i/len(files), hedge))
			return nil
		})
	}
	_ = tasks.Wait() // each outcome has its own error
}

// submitOne takes a file from submission to outcome. Submit repeats by itself until the task is
// stored. That is safe, since the id makes it one task however often it is submitted.
func (s *submitter) submitOne(ctx context.Context, f file, priority int, hedge bool) outcome {
	o, id := outcome{file: f}, taskID(s.run, f.Rel)
	in := checksumIn{Path: f.Path, Rate: s.rate(f.Size)}
	first, err := assign.Submit(ctx, s.client, checksum, in, assign.WithID(id), assign.WithPriority(priority))
	second := first
	if err == nil && hedge {
		in.Rate /= 2
		second, err = assign.Submit(ctx, s.client, checksum, in, assign.WithID(id+"=twin"), assign.WithPriority(100))
	}
	if err != nil {
		o.err = err
		return o
	}
	o.task = id
	if hedge {
		o.out, o.cancelled, o.err = s.race(ctx, first, second)
	} else {
		o.out, o.err = first.Wait(ctx)
	}
	if status, err := first.Status(ctx); err == nil {
		o.attempts = status.Attempts
	}
	return o
}

// race waits for the first of two tasks for the same file, and cancels the other one. It keeps a
// slow worker from holding everything up (Dean and Barroso, The Tail at Scale, 2013). Here the
// second task reads at half the rate: it loses, and shows how a running task is cancelled.
func (s *submitter) race(ctx context.Context, a, b *pending) (out checksumOut, cancelled bool, err error) {
	waiting, stop := context.WithCancel(ctx)
	winner := make(chan *pending, 2) // the loser must not wait
	var both sync.WaitGroup
	defer both.Wait()
	defer stop()
	for _, p := range []*pending{a, b} {
		both.Go(func() {
			_, _ = p.Wait(waiting)
			winner <- p
		})
	}
	first := <-winner
	if out, err = first.Wait(ctx); ctx.Err() != nil {
		return out, false, err
	}
	other := a
	if first == a {
		other = b
	}
	return out, s.cancel(ctx, other), err
}

// cancel ends a task that is not needed any more. It works without a leader, too: then no scheduler
// can say how far the task was.
func (s *submitter) cancel(ctx context.Context, p *pending) bool {
	was := "still open"
	if status, err := p.Status(ctx); err == nil {
		was = fmt.Sprintf("%s, %.0f %% done", status.State, 100*status.Progress)
	}
	began := time.Now()
	if err := p.Cancel(ctx); err != nil { // assign.ErrTaskEnded: it ended at the same moment
		return false
	}
	s.log("the largest file is hashed; its twin, a second task to be safe, is cancelled: it was %s, and ended after %v",
		was, time.Since(began).Round(10*time.Microsecond))
	return true
}

// maxTaskPath is how long a path may become in a task id: a run goes before it, and 200 bytes are
// the limit.
const maxTaskPath = 160

// unfit matches the characters that a task id cannot hold, and the dots that it cannot hold there.
var unfit = regexp.MustCompile(`[^a-zA-Z0-9_/.-]|^\.|\.\.|\.$`)

// taskID names the task of a file: the same file submitted twice in one run is one task. Bytes that
// are unfit are written as =XX. A path that becomes too long is named by its SHA-256.
func taskID(run, rel string) string {
	name := unfit.ReplaceAllStringFunc(rel, func(s string) string {
		return strings.ReplaceAll(fmt.Sprintf(" % X", s), " ", "=")
	})
	if len(name) > maxTaskPath {
		name = fmt.Sprintf("=%x", sha256.Sum256([]byte(rel)))
	}
	return run + "/" + name
}

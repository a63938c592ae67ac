package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// hedge is a second task for the same file: whichever ends first counts, and the other one is cancelled. It is what one does
// where a slow worker must not hold everything up (Dean and Barroso, The Tail at Scale, 2013). Here the twin reads at half
// the pace, so that it loses, and shows what a cancel does to a task that runs.
type hedge struct {
	first, second *assign.Pending[checksumOut]
}

// twin is added to the id of the second task.
const twin = "=twin"

// submitTwin adds the second task to one that was submitted.
func (j *job) submitTwin(ctx context.Context, f file, first *assign.Pending[checksumOut]) (*hedge, error) {
	in := checksumIn{Path: f.path, Rate: j.pace.of(f.size) / 2}
	second, err := assign.Submit(ctx, j.client, checksum, in, assign.WithID(first.ID()+twin), assign.WithPriority(100))
	if err != nil {
		return nil, err
	}
	return &hedge{first, second}, nil
}

// wait returns what comes first, and cancels the other one.
func (h *hedge) wait(ctx context.Context, j *job) (out checksumOut, err error) {
	type ended struct {
		of  *assign.Pending[checksumOut]
		out checksumOut
		err error
	}
	waiting, stop := context.WithCancel(ctx)
	var both sync.WaitGroup
	defer both.Wait()
	defer stop()
	results := make(chan ended, 2) // one for each
	for _, p := range []*assign.Pending[checksumOut]{h.first, h.second} {
		both.Go(func() {
			out, err := p.Wait(waiting)
			results <- ended{p, out, err}
		})
	}
	r := <-results
	if ctx.Err() != nil {
		return r.out, r.err
	}
	other := h.first
	if r.of == h.first {
		other = h.second
	}
	j.cancel(ctx, other)
	return r.out, r.err
}

// cancel ends a task that nobody needs any more, and says what was done to it. Nobody may lead just now: then nobody can say how far it
// is, and it is cancelled all the same.
func (j *job) cancel(ctx context.Context, p *assign.Pending[checksumOut]) {
	was := "still open"
	if status, err := p.Status(ctx); err == nil {
		was = fmt.Sprintf("%s, %.0f %% done", status.State, 100*status.Progress)
	}
	began := time.Now()
	switch err := p.Cancel(ctx); {
	case errors.Is(err, assign.ErrTaskEnded): // at the same moment
	case err == nil:
		j.count(func(t *tally) { t.Cancelled++ }, "")
		j.note("the largest file is hashed; its twin, a second task to be safe, is cancelled: it was %s, and ended after %v",
			was, time.Since(began).Round(10*time.Microsecond))
	}
}

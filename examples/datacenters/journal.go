package main

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/election"
)

// term is an interval in which a process led a role.
type term struct {
	role, site, id string
	epoch          uint64
	from           time.Duration // its work began
	stopped        time.Duration // its context ended
	to             time.Duration // its work has returned
	over           bool          // stopped and to are known
}

// journal has all terms, on one clock.
type journal struct {
	start time.Time

	mu      sync.Mutex
	terms   []*term
	steps   int           // of the work of planner
	epoch   uint64        // of the last one
	late    int           // those by a former leader
	stray   int           // those by a process that did not lead its site
	changed chan struct{} // closed, and replaced, when a term begins or ends
}

func newJournal() *journal { return &journal{start: time.Now(), changed: make(chan struct{})} }

func (j *journal) now() time.Duration { return time.Since(j.start) }

type lead = func(context.Context, *election.Term) error

// keep wraps the work of a role, and writes down when it begins and ends.
func (j *journal) keep(p *process, work lead) lead {
	return func(ctx context.Context, e *election.Term) error {
		t := &term{role: e.Role(), site: p.site, id: p.id, epoch: e.Epoch()}
		j.change(func() { t.from, j.terms = j.now(), append(j.terms, t) })
		stopped := func() { t.stopped = cmp.Or(t.stopped, j.now()) }
		defer context.AfterFunc(ctx, func() { j.change(stopped) })()
		defer j.change(func() { stopped(); t.to, t.over = j.now(), true })
		return work(ctx, e)
	}
}

func (j *journal) change(do func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	do()
	close(j.changed)
	j.changed = make(chan struct{})
}

// step counts a step of the work of planner. It is stray if its process did not lead its site.
func (j *journal) step(epoch uint64, stray bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.steps++
	if epoch < j.epoch {
		j.late++
	}
	if stray {
		j.stray++
	}
	j.epoch = max(j.epoch, epoch)
}

// find waits for the first term of a role for which something holds.
func (j *journal) find(ctx context.Context, role string, is func(term) bool) (term, error) {
	for {
		j.mu.Lock()
		changed := j.changed
		for _, t := range j.terms {
			if t.role == role && is(*t) {
				defer j.mu.Unlock()
				return *t, nil
			}
		}
		j.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return term{}, context.Cause(ctx)
		}
	}
}

// of are the terms of a role, by their beginning. Those that last are cut off now.
func (j *journal) of(role string) (all []term) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, t := range j.terms {
		if t.role != role {
			continue
		}
		all = append(all, *t)
		if last := &all[len(all)-1]; !t.over {
			last.to, last.stopped = j.now(), cmp.Or(t.stopped, j.now())
		}
	}
	slices.SortFunc(all, func(a, b term) int { return cmp.Compare(a.from, b.from) })
	return all
}

package worker

import (
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// progressEvery is the time between two reports of one attempt's progress. A checkpoint is reported
// at once.
const progressEvery = 100 * time.Millisecond

// progress is the handler's latest report, until the scheduler has settled it. It is bounded by one
// checkpoint and the handler's own calls that wait.
type progress struct {
	mu         sync.Mutex
	said       uint64 // counts the handler's reports
	settled    uint64 // how many of them the scheduler has taken
	fraction   float64
	checkpoint []byte // the latest one that is not settled, nil for none
	saved      uint64 // the number of its report
	waiting    []saying
	announced  urgency // the urgency that the loop knows of, and has not taken
}

// saying is a call that waits until its report is settled.
type saying struct {
	number uint64
	done   chan error // size 1: it is told once, whether it still waits or not
}

type urgency uint8

const (
	nothing urgency = iota
	someTime
	atOnce // a handler waits for it
)

// say replaces the earlier reports. tell reports whether the loop has to know.
func (p *progress) say(fraction float64, checkpoint []byte) (done chan error, tell bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said++
	p.fraction = fraction
	u := someTime
	if checkpoint != nil {
		u = atOnce
		p.checkpoint, p.saved = checkpoint, p.said
		done = make(chan error, 1)
		p.waiting = append(p.waiting, saying{p.said, done})
	}
	tell = u > p.announced
	p.announced = max(p.announced, u)
	return done, tell
}

// leave forgets a call that has stopped waiting. Its report stays.
func (p *progress) leave(done chan error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.waiting {
		if p.waiting[i].done == done {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			return
		}
	}
}

// news is how urgent the unsettled reports are.
func (p *progress) news() urgency {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.checkpoint != nil:
		return atOnce
	case p.said > p.settled:
		return someTime
	}
	return nothing
}

// take is the finding to report, with the number of the handler's latest report.
func (p *progress) take() (f frame.Finding, number uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.announced = nothing
	return frame.Finding{Verb: tasks.Progressing, Fraction: float32(p.fraction), Data: p.checkpoint}, p.said
}

// settle handles the scheduler's answer to a report. All reports up to number are stored, or, if
// the answer was stale, never will be.
func (p *progress) settle(number uint64, stale bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settled = max(p.settled, number)
	if p.saved <= number {
		p.checkpoint = nil
	}
	var err error
	if stale {
		err = taskerr.ErrStale
	}
	kept := p.waiting[:0]
	for _, w := range p.waiting {
		if w.number > number {
			kept = append(kept, w)
			continue
		}
		w.done <- err
	}
	p.waiting = kept
}

// reporting is the loop's state of the reports of one attempt's progress. At most one is under way.
type reporting struct {
	queued, flying, cool bool
	ran                  int64 // of the last one: they are ordered by it
}

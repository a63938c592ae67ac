package dashboard

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

const (
	askWithin = 2 * time.Second // how long a scheduler may take to answer
	// Dead tasks are counted after countEvery, or later: counting takes one part in countShare of
	// the time, as long as that is not more than countLatest.
	countEvery  = 10 * time.Second
	countLatest = time.Minute
	countShare  = 50
)

// fresh has answers replaced that are old. It waits only if there are none from the time in which
// somebody has looked: a scheduler that is silent holds up nobody who has a picture.
func (h *hub) fresh(ctx context.Context) {
	if len(h.options.Tasks) == 0 || h.answeredWithin(2*askEvery) {
		return
	}
	select {
	case h.want <- struct{}{}:
	default: // that is already known
	}
	for {
		next := h.next() // before the look: no answer is missed
		if h.answeredWithin(unseen) {
			return
		}
		select {
		case <-next:
		case <-ctx.Done():
			return
		case <-h.ended:
			return
		}
	}
}

func (h *hub) answeredWithin(d time.Duration) bool {
	return time.Since(time.Unix(0, h.asked.Load())) < d
}

// askAlways asks the schedulers for as long as somebody looks.
func (h *hub) askAlways(ctx context.Context) {
	ask := time.NewTicker(askEvery)
	defer ask.Stop()
	var counted time.Time
	pause := countEvery
	for ctx.Err() == nil {
		if time.Since(time.Unix(0, h.looked.Load())) < unseen && !h.answeredWithin(askEvery/2) {
			count := time.Since(counted) >= pause
			took := h.ask(ctx, count)
			if count {
				counted, pause = time.Now(), min(max(countEvery, countShare*took), countLatest)
			}
		}
		select {
		case <-ask.C:
		case <-h.want:
		case <-ctx.Done():
		}
	}
}

// ask asks all schedulers, and with count has the dead tasks counted. It returns how long a count
// took at most: all records of the namespace are read for that.
func (h *hub) ask(ctx context.Context, count bool) (took time.Duration) {
	var all sync.WaitGroup
	each := make([]time.Duration, len(h.options.Tasks))
	for i, c := range h.options.Tasks {
		all.Go(func() { h.askOne(ctx, i, c) })
		if count {
			all.Go(func() {
				began := time.Now()
				h.countOne(ctx, i, c)
				each[i] = time.Since(began)
			})
		}
	}
	all.Wait()
	if ctx.Err() == nil {
		now := time.Now()
		h.asked.Store(now.UnixNano())
		h.draw(now)
	}
	for _, d := range each {
		took = max(took, d)
	}
	return took
}

// askOne asks the scheduler of one namespace.
func (h *hub) askOne(ctx context.Context, i int, c *assign.Client) {
	once, cancel := context.WithTimeout(ctx, askWithin)
	o, err := assign.GetOverview(once, c)
	cancel()
	var overview *assign.Overview
	var problem string
	switch {
	case err == nil:
		overview = &o
	case ctx.Err() != nil:
		return
	case errors.Is(err, assign.ErrNoScheduler), errors.Is(err, context.DeadlineExceeded):
		problem = "there is no scheduler"
	default:
		problem = wording.OneLine(wording.Plain(err))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a := &h.answers[i]
	if a.Overview, a.Problem = overview, problem; overview != nil {
		a.Asked, a.last = time.Now(), findings.Seal{Epoch: o.Epoch, Holder: o.Scheduler}
	}
}

// countOne counts the dead tasks of one namespace. The last count stays if that fails.
func (h *hub) countOne(ctx context.Context, i int, c *assign.Client) {
	once, cancel := context.WithTimeout(ctx, askWithin)
	dead, err := findings.CountDead(once, c)
	cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	a := &h.answers[i]
	if a.DeadUnknown = err != nil; err == nil {
		a.Dead, a.MoreDead = dead.N, dead.More
	}
}

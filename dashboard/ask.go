package dashboard

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/wording"
)

const (
	askWithin    = 2 * time.Second // how long a scheduler may take to answer
	countEvery   = 10 * time.Second
	countPages   = 5 // of dead tasks
	countPerPage = 100
)

// askAlways asks the schedulers for as long as somebody looks.
func (h *hub) askAlways(ctx context.Context) {
	ask := time.NewTicker(askEvery)
	defer ask.Stop()
	for ctx.Err() == nil {
		if time.Since(time.Unix(0, h.looked.Load())) < unseen {
			h.ask(ctx, askEvery)
		}
		select {
		case <-ask.C:
		case <-ctx.Done():
		}
	}
}

// ask asks all schedulers, unless that was done within that time.
func (h *hub) ask(ctx context.Context, within time.Duration) {
	h.asking.Lock()
	defer h.asking.Unlock()
	if len(h.options.Tasks) == 0 || time.Since(h.asked) < within {
		return
	}
	count := time.Since(h.counted) >= countEvery
	var all sync.WaitGroup
	for i, c := range h.options.Tasks {
		all.Go(func() { h.askOne(ctx, i, c, count) })
	}
	all.Wait()
	if ctx.Err() != nil {
		return
	}
	if count {
		h.counted = time.Now()
	}
	h.asked = time.Now()
	h.draw(h.asked)
}

// askOne asks the scheduler of one namespace.
func (h *hub) askOne(ctx context.Context, i int, c *assign.Client, count bool) {
	h.mu.Lock()
	n := h.answers[i]
	h.mu.Unlock()
	n.Overview, n.Problem = nil, ""
	once, cancel := context.WithTimeout(ctx, askWithin)
	o, err := assign.GetOverview(once, c)
	cancel()
	switch {
	case err == nil:
		n.Overview = &o
	case ctx.Err() != nil:
		return
	case errors.Is(err, assign.ErrNoScheduler), errors.Is(err, context.DeadlineExceeded):
		n.Problem = "there is no scheduler"
	default:
		n.Problem = wording.OneLine(err.Error())
	}
	if count {
		n.Dead, n.MoreDead = countDead(ctx, c)
	}
	h.mu.Lock()
	h.answers[i] = n
	h.mu.Unlock()
}

// countDead counts the dead tasks of a namespace, as far as a few pages hold them.
func countDead(ctx context.Context, c *assign.Client) (n int, more bool) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	o := assign.ListOptions{States: []assign.State{assign.StateDead}, Limit: countPerPage}
	for range countPages {
		page, err := assign.List(ctx, c, o)
		if err != nil {
			return n, n > 0
		}
		n += len(page.Tasks)
		if o.Cursor = page.Next; o.Cursor == "" {
			return n, false
		}
	}
	return n, true
}

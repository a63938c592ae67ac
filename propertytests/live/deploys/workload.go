package deploys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// within is how soon every task has ended.
const within = 30 * time.Minute

// submitUntil has tasks submitted by programs of two builds until a moment.
func (w *fleet) submitUntil(end time.Time, old, present build) {
	for time.Now().Before(end) {
		w.submitAs([]build{old, present}[w.rng.IntN(2)])
		time.Sleep(min(w.upTo(30*time.Second), time.Until(end)+1))
	}
}

// submitAs submits one task as a program of a build does.
func (w *fleet) submitAs(b build) {
	w.submitted++
	id, o := fmt.Sprint("t", w.submitted), order{Run: w.upTo(4 * time.Second)}
	if w.rng.IntN(6) == 0 {
		o.Run = w.upTo(4 * time.Minute) // longer than a process that ends waits
	}
	if w.rng.IntN(5) == 0 {
		o.Fail = w.rng.IntN(maxAttempts + 1) // with the last of them it is dead, by its own fault
	}
	opts := []assign.SubmitOption{assign.WithID(id)}
	if w.rng.IntN(5) == 0 {
		opts = append(opts, assign.WithDelay(w.upTo(5*time.Minute)))
	}
	c := w.client(b)
	switch w.rng.IntN(10) {
	case 0, 1, 2:
		ends(w, c, stable, o, id, o, opts)
	case 3, 4:
		ends(w, c, b.job(), o, id, o, opts)
	case 5, 6: // a limit of one would not keep up with long ones
		o.Run = min(o.Run, 5*time.Second)
		ends(w, c, b.bounded(), o, id, o, opts)
	case 7, 8: // a build that can decode it may be gone before the end of a delay
		opts = opts[:1]
		if b%2 == 0 {
			ends(w, c, even, evenShape{w.submitted}, id, order{}, opts)
		} else {
			ends(w, c, odd, oddShape{id}, id, order{}, opts)
		}
	default:
		w.chain(c, id, opts)
	}
}

// ends submits a task, and waits for the end that it must come to.
func ends[In any](w *fleet, c *assign.Client, k assign.Kind[In, string], in In, id string, o order,
	opts []assign.SubmitOption,
) {
	w.waiting.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		p, err := assign.Submit(ctx, c, k, in, opts...)
		if err != nil {
			w.t.Errorf("%s: %v", id, err)
			return
		}
		w.count("tasks")
		out, err := p.Wait(ctx)
		switch {
		case o.Fail >= maxAttempts && errors.Is(err, assign.ErrTaskDead):
			w.count("dead")
		case o.Fail >= maxAttempts || err != nil || out != id:
			s, _ := assign.Get(context.Background(), c, id) // for the report only
			w.t.Errorf("%s of %s, %+v, ended with %q, %v\n%+v", id, k.Name(), o, out, err, s)
		}
	})
}

// chain submits a task, and one that gives its output on.
func (w *fleet) chain(c *assign.Client, id string, opts []assign.SubmitOption) {
	w.waiting.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		first, err := assign.Submit(ctx, c, stable, order{Run: 3 * time.Second}, opts...)
		if err != nil {
			w.t.Errorf("%s: %v", id, err)
			return
		}
		second, err := assign.Chain(ctx, c, relay, first, assign.WithID(id+"-relay"))
		if err != nil {
			w.t.Errorf("%s-relay: %v", id, err)
			return
		}
		if out, err := second.Wait(ctx); out != id || err != nil {
			w.t.Errorf("%s-relay ended with %q, %v", id, out, err)
		}
		w.count("chains")
	})
}

// group submits the group of an hour: every fifth member is dead in the end.
func (w *fleet) group(b build) {
	const size = 25
	orders := make([]order, size)
	for i := range orders {
		orders[i] = order{Run: w.upTo(time.Minute)}
		if i%5 == 4 {
			orders[i].Fail = maxAttempts
		}
	}
	c := w.client(b)
	w.waiting.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		g, err := assign.SubmitGroup(ctx, c, fmt.Sprint("g", int(b)), stable, orders, whole)
		if err != nil {
			w.t.Errorf("group %d: %v", b, err)
			return
		}
		s, err := g.Wait(ctx)
		if err != nil || s.Succeeded != size-size/5 || s.Dead != size/5 {
			w.t.Errorf("group %d: %+v, %v", b, s, err)
		}
		w.count("groups")
	})
}

// checkTicks: the ticks from the first to the last are a step apart, and each has succeeded.
func (w *fleet) checkTicks() {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ticks []time.Time
	for _, id := range w.ticks {
		t, err := time.Parse("20060102T150405Z", id[strings.LastIndexByte(id, '/')+1:])
		if err != nil {
			w.t.Errorf("tick %s: %v", strconv.Quote(id), err)
		}
		ticks = append(ticks, t)
	}
	slices.SortFunc(ticks, time.Time.Compare)
	for i := 1; i < len(ticks); i++ {
		if d := ticks[i].Sub(ticks[i-1]); d != step {
			w.t.Errorf("a tick at %v, and the next one %v later", ticks[i-1], d)
		}
	}
	w.counts["ticks"] = len(ticks)
}

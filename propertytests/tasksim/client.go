package tasksim

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

const maxAttempts = 3

// submitAll lets clients submit, over the length of the run, each until it has an acknowledgement.
func (w *world) submitAll() {
	policies := []*tasks.Policy{
		{Kind: "a", MaxAttempts: maxAttempts, Backoff: w.Lease / 20, MaxBackoff: w.Lease},
		{Kind: "b", MaxAttempts: maxAttempts, Backoff: w.Lease / 10, MaxBackoff: w.Lease, Delay: w.Lease / 2},
		{Kind: "a", MaxAttempts: maxAttempts, Backoff: w.Lease / 20, MaxBackoff: w.Lease, Deadline: 20 * w.Lease},
	}
	for i := range w.Tasks {
		id, policy := fmt.Sprint("t", i), policies[min(w.rng.IntN(12), 2)%3]
		if w.chance(0.8) {
			policy = policies[0]
		}
		w.after(w.upTo(w.Length*9/10), func() { w.submit(id, policy) })
	}
}

func (w *world) submit(id string, p *tasks.Policy) {
	acked := false
	if !w.chance(w.Loss) {
		w.after(w.travel(), func() {
			w.store.write("q."+id, submission{p}, "q."+id, 0) // refused: it is there
			if !w.chance(w.Loss) {
				w.after(w.travel(), func() {
					acked = true
					w.acked[id] = true
				})
			}
		})
	}
	w.after(w.Lease, func() {
		if !acked {
			w.submit(id, p)
		}
	})
	if w.chance(0.03) {
		w.after(w.upTo(5*w.Lease), func() {
			for _, l := range w.leads {
				if !l.over {
					l.step(tasks.CancelAsked{ID: id})
				}
			}
		})
	}
}

// result is what a handler returns.
func (w *world) result() tasks.Result {
	switch n := w.rng.IntN(100); {
	case n < 80:
		return tasks.Result{Verb: tasks.Succeeded}
	case n < 90:
		return tasks.Result{Verb: tasks.Failed}
	case n < 93:
		return tasks.Result{Verb: tasks.Permanent}
	case n < 98:
		return tasks.Result{Verb: tasks.Snoozed, Delay: int64(w.upTo(w.Lease))}
	default:
		return tasks.Result{Verb: tasks.Released}
	}
}

// effort is how long a handler runs.
func (w *world) effort() time.Duration {
	if w.chance(0.2) {
		return w.upTo(3 * w.Lease)
	}
	return w.upTo(w.Lease / 10)
}

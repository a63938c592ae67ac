package tasksim

import (
	"fmt"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

const maxAttempts = 3

// kinds that are worked at: the last one has limits.
var kinds = []string{"a", "b", fairKind, "limited"}

const (
	deadFactor  = 3 // how much longer a dead task is kept
	concurrency = 2
	rate        = 20
	keyLimit    = 2
)

// treatments are drawn from for most tasks the first, and for the others any.
func (w *taskWorld) treatments() []submission {
	retry := tasks.Policy{
		MaxAttempts: maxAttempts, Backoff: w.Lease / 20, MaxBackoff: w.Lease, KeyLimit: keyLimit,
		Weight: 1, Retention: w.Retention, Dead: deadFactor * w.Retention,
	}
	if w.Retention == 0 {
		retry.Retention = 1000 * time.Hour
	}
	of := func(kind string, change func(s *submission)) submission {
		p := retry
		p.Kind = kind
		s := submission{policy: &p}
		change(&s)
		return s
	}
	all := []submission{
		of("a", func(*submission) {}),
		of("a", func(s *submission) { s.times.Deadline = 20 * w.Lease }),
		of("a", func(s *submission) { s.times.Deadline = 2 * w.Lease }),
		of("a", func(s *submission) { s.policy.Priority = 5 }),
		of("a", func(s *submission) { s.policy.Priority = -3 }),
		of("a", func(s *submission) { s.policy.Labels = map[string]string{"zone": "0"} }),
		of("b", func(s *submission) { s.times.Delay = w.Lease / 2 }),
		of("b", func(s *submission) { s.times.Delay = 4 * w.Lease }),
		of("b", func(s *submission) { s.times.At = w.wall(w.Length / 2) }),
		of(fairKind, func(*submission) {}),
		of(fairKind, func(*submission) {}),
		of("limited", func(s *submission) { s.policy.Concurrency, s.policy.Rate = concurrency, rate }),
	}
	if w.Slots > 1 {
		all = append(all, of("b", func(s *submission) { s.policy.Weight = 2 }))
	}
	return all
}

// keysOf draws the keys of a task.
func (w *taskWorld) keysOf() *tasks.Keys {
	key := func(p float64, name string, of int) string {
		if w.chance(p) {
			return fmt.Sprint(name, w.rng.IntN(of))
		}
		return ""
	}
	k := tasks.Keys{Unique: key(0.2, "u", 4), Sticky: key(0.2, "s", 5), Limit: key(0.2, "l", 3)}
	if k == (tasks.Keys{}) {
		return nil
	}
	return &k
}

// submitAll lets clients submit, over the length of the run, each until it has an acknowledgement.
func (w *taskWorld) submitAll() {
	w.submitGroups()
	w.submitBundles()
	treatments := w.treatments()
	for i := range w.Tasks {
		keys, later, s := w.keysOf(), w.Versions && w.chance(0.3), treatments[0]
		if w.chance(0.5) {
			s = treatments[w.rng.IntN(len(treatments))]
		}
		s.keys, s.later = keys, later
		if s.policy.Kind == fairKind {
			s.keys = &tasks.Keys{Fair: fmt.Sprint("f", w.rng.IntN(3))}
			if w.Tasks%2 == 0 {
				s.keys.Limit = "fair"
			}
		}
		w.ignore(&s)
		s.fresh = w.Deploys && s.policy == treatments[0].policy && w.chance(0.5)
		id := fmt.Sprint("t", i)
		w.unsure++
		w.after(w.upTo(w.Length*9/10), func() {
			if s.after = w.afterOf(id); s.after != nil {
				s.later = true // processes of the earlier version must not run it at once
			}
			w.submit(id, s)
		})
	}
}

// submit stores a task, and again until it is known to be there: whatever is lost, the condition
// makes the second one see the first.
func (w *taskWorld) submit(id string, s submission) {
	if s.keys != nil && s.keys.Unique != "" {
		w.submitUnique(id, s)
	} else {
		done := false
		w.try(id, s, &done)
	}
	if w.chance(0.05) {
		w.after(w.upTo(5*w.Lease), func() { w.askCancel(id) })
	}
}

func (w *taskWorld) try(id string, s submission, done *bool) {
	w.request(func() (record.Outcome, bool) {
		o, _ := w.store.write(put{"q." + id, s, "q." + id, 0}) // refused: it is there
		return o, true
	}, func(there bool) {
		if !*done {
			w.unsure--
		}
		*done = true
		if there {
			w.acked[id] = true
		}
	})
	w.after(w.Lease, func() {
		if !*done {
			w.try(id, s, done)
		}
	})
}

// request carries out a client's write after a while, and lets it know: either may be lost.
func (w *taskWorld) request(write func() (record.Outcome, bool), answer func(bool)) {
	if !w.calm && w.chance(w.Loss) {
		return
	}
	w.after(w.travel(), func() {
		_, there := write()
		if w.calm || !w.chance(w.Loss) {
			w.after(w.travel(), func() { answer(there) })
		}
	})
}

// askCancel stores the request to cancel a task, if it is open: it holds under every leader.
func (w *taskWorld) askCancel(id string) {
	revision := w.store.last["q."+id] // 0: it is a member of a bundle
	if !w.store.open(id) {
		return
	}
	w.request(func() (record.Outcome, bool) {
		w.Requests++
		o, _ := w.store.write(put{"x." + id, steering{}, "q." + id, revision})
		return o, true
	}, func(bool) {})
}

// requeue submits a dead task again, in the place of its outcome. The submission takes the unique
// key again.
func (w *taskWorld) requeue(id string, s submission) {
	o, ended := w.store.record("q." + id).(tasks.Outcome)
	if !ended || o.Status != tasks.StatusDead || w.calm || w.poison(id) {
		return
	}
	s.renewed, s.after = true, nil
	dead := w.store.last["q."+id]
	if s.keys != nil && s.keys.Unique != "" {
		w.requeueUnique(id, s, dead)
		return
	}
	if o, _ := w.store.write(put{"q." + id, s, "q." + id, dead}); o == record.Won {
		w.Requeued++
	}
}

// keeps is how long an outcome is to be kept.
func (w *taskWorld) keeps(id string, status tasks.Status) time.Duration {
	switch {
	case strings.HasPrefix(id, groups.Prefix):
		if _, _, member := groups.MemberOf(id); member && w.Renames && status == tasks.StatusDead {
			return deadFactor * groupKept * w.Lease
		}
		return groupKept * w.Lease
	case status == tasks.StatusDead:
		return deadFactor * w.Retention
	}
	return w.Retention
}

// retain lets an outcome expire, and its id be used again now and then.
func (w *taskWorld) retain(id string, o tasks.Outcome, before any, revision uint64) {
	if w.Retention == 0 || w.store.stays[revision] {
		return
	}
	w.once(w.store.clock()+w.keeps(id, o.Status), func() {
		if !w.store.expire("q."+id, revision) {
			return
		}
		w.Expired++
		s, ok := before.(submission)
		if !ok || strings.HasPrefix(id, groups.Prefix) || w.calm || s.keys != nil && s.keys.Unique != "" || !w.chance(0.5) {
			return
		}
		w.after(w.upTo(w.Lease/4), func() {
			s.renewed = true
			if w.live[id] > 0 || w.calm {
				return
			}
			if o, _ := w.store.write(put{"q." + id, s, "q." + id, 0}); o == record.Won {
				w.Reused++
				w.acked[id] = true
			}
		})
	})
}

// steer pauses kinds and drains workers now and then, for a while.
func (w *taskWorld) steer() {
	w.after(w.upTo(4*w.Lease), func() {
		if w.calm {
			return
		}
		subject := "p." + kinds[w.rng.IntN(len(kinds))]
		if w.chance(0.5) {
			subject = "d." + w.procs[w.rng.IntN(len(w.procs))].name
		}
		if w.chance(0.3) {
			w.Steered++
			w.store.write(put{subject: subject, value: steering{}})
			w.after(w.upTo(3*w.Lease), func() { w.store.write(put{subject: subject, value: erased{}}) })
		}
		w.steer()
	})
}

// result is what a handler returns.
func (w *taskWorld) result() tasks.Result {
	switch n := w.rng.IntN(100); {
	case n < 80:
		return tasks.Result{Verb: tasks.Succeeded}
	case n < 90:
		return tasks.Result{Verb: tasks.Failed}
	case n < 93:
		return tasks.Result{Verb: tasks.Permanent}
	case n < 98, w.Outcast: // there the one scheduler stays: the next one would wait for what the outcast has heard
		return tasks.Result{Verb: tasks.Snoozed, Delay: int64(w.upTo(w.Lease))}
	default:
		return tasks.Result{Verb: tasks.Released}
	}
}

// effort is how long a handler runs.
func (w *taskWorld) effort() time.Duration {
	if w.chance(0.2) {
		return w.upTo(3 * w.Lease)
	}
	return w.upTo(w.Lease / 10)
}

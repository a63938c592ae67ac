package main

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// term is one interval in which an instance of this process led a role, on the history's clock: from its promotion to its
// demotion, when the context of the work ended. The work may take a moment longer to return.
type term struct {
	role, instance string
	epoch          uint64
	from, to       time.Duration
	demoted        bool // to is set
	returned       time.Duration
	over           bool // returned is set
}

// overlap is two terms of one role that shared time: what must never happen.
type overlap struct {
	a, b term
	by   time.Duration
}

// sighting is when a term began, or when this process saw it if it is another process's.
type sighting struct {
	epoch    uint64
	instance string
	at       time.Duration
}

// history records who led what and when. All times are readings of the one monotonic clock of this process, so intervals
// of different instances in it can be compared; those of other processes could not be.
type history struct {
	start time.Time

	mu      sync.Mutex
	own     map[string]bool // instances of this process
	terms   []*term
	seen    map[string][]sighting // by role, epochs ascending: terms that this process knows of
	changed chan struct{}         // closed, and replaced, when something was recorded
}

func newHistory() *history {
	return &history{start: time.Now(), own: map[string]bool{}, seen: map[string][]sighting{}, changed: make(chan struct{})}
}

// now is the time since the start.
func (h *history) now() time.Duration { return time.Since(h.start) }

type lead = func(ctx context.Context, t *election.Term) error

// record makes a Role.Lead that notes when work begins, as its first act, when its context ends, and when all of it has
// returned, as its last.
func (h *history) record(instance string, work lead) lead {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own[instance] = true
	return func(ctx context.Context, t *election.Term) error {
		led := h.began(t.Role(), instance, t.Epoch())
		context.AfterFunc(ctx, func() { h.demoted(led) })
		defer h.ended(led)
		return work(ctx, t)
	}
}

func (h *history) began(role, instance string, epoch uint64) *term {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := &term{role: role, instance: instance, epoch: epoch, from: h.now()}
	h.terms = append(h.terms, t)
	h.sight(role, sighting{epoch, instance, t.from})
	h.announce()
	return t
}

func (h *history) demoted(t *term) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !t.demoted {
		t.to, t.demoted = h.now(), true
	}
}

// ended notes that the work has returned; a term whose work returned before its context had ended is over as well.
func (h *history) ended(t *term) {
	h.demoted(t)
	h.mu.Lock()
	defer h.mu.Unlock()
	t.returned, t.over = h.now(), true
	h.announce()
}

// Observe makes a history an event.Sink: it learns of leaders in other processes. Our own are known by what they do.
func (h *history) Observe(e event.Event) {
	c, ok := e.(event.LeaderChanged)
	if !ok || c.Leader == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.own[c.Leader] {
		h.sight(c.Role, sighting{c.Epoch, c.Leader, h.now()})
		h.announce()
	}
}

// sight keeps s if its term is news. h.mu is held.
func (h *history) sight(role string, s sighting) {
	if all := h.seen[role]; len(all) == 0 || s.epoch > all[len(all)-1].epoch {
		h.seen[role] = append(all, s)
	}
}

func (h *history) announce() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// running are the terms that an instance is in at present.
func (h *history) running(instance string) (all []term) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.terms {
		if t.instance == instance && !t.over {
			all = append(all, *t)
		}
	}
	return all
}

// successor waits for the first term of the role after that of epoch.
func (h *history) successor(ctx context.Context, role string, epoch uint64) (s sighting, err error) {
	err = h.await(ctx, func() bool {
		i := slices.IndexFunc(h.seen[role], func(s sighting) bool { return s.epoch > epoch })
		if i >= 0 {
			s = h.seen[role][i]
		}
		return i >= 0
	})
	return s, err
}

// anyone waits until one of the instances leads something.
func (h *history) anyone(ctx context.Context, instances []string) error {
	return h.await(ctx, func() bool {
		return slices.ContainsFunc(h.terms, func(t *term) bool { return !t.over && slices.Contains(instances, t.instance) })
	})
}

// end waits until the work of a term has returned, and says when that was.
func (h *history) end(ctx context.Context, t term) (at time.Duration, err error) {
	err = h.await(ctx, func() bool {
		i := slices.IndexFunc(h.terms, func(u *term) bool { return u.instance == t.instance && u.epoch == t.epoch && u.over })
		if i >= 0 {
			at = h.terms[i].returned
		}
		return i >= 0
	})
	return at, err
}

// await waits for a condition on what is recorded; it is looked at with h.mu held.
func (h *history) await(ctx context.Context, ok func() bool) error {
	for {
		h.mu.Lock()
		holds, changed := ok(), h.changed
		h.mu.Unlock()
		if holds {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// all is a copy of every term so far; those that go on end now.
func (h *history) all() []term {
	h.mu.Lock()
	defer h.mu.Unlock()
	terms := make([]term, len(h.terms))
	for i, t := range h.terms {
		terms[i] = *t
		if !t.demoted {
			terms[i].to = h.now()
		}
	}
	return terms
}

// sweep finds the terms that overlap: each is compared with that one before it, of the same role, that lasted longest.
// Two that only touch do not overlap.
func sweep(terms []term) (found []overlap) {
	terms = slices.Clone(terms)
	slices.SortStableFunc(terms, func(a, b term) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.from, b.from), cmp.Compare(a.epoch, b.epoch))
	})
	var longest term
	for i, t := range terms {
		if i > 0 && t.role == longest.role {
			if t.from < longest.to {
				found = append(found, overlap{longest, t, min(t.to, longest.to) - t.from})
			}
			if t.to <= longest.to {
				continue
			}
		}
		longest = t
	}
	return found
}

package stage

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// term is one interval in which an instance of this process led a role, on the clock of the
// history: from its promotion to its demotion, which ended the context of the work. The work may
// take a moment longer to return.
type term struct {
	role, instance string
	epoch          uint64
	from, to       time.Duration
	demoted        bool // to is set
	returned       time.Duration
	over           bool // returned is set
}

// succession is the beginning of a term: when it began, or when this process learned of it if
// another process leads.
type succession struct {
	epoch    uint64
	instance string
	at       time.Duration
}

// history records which instance led which role, and when. All times are readings of the one
// monotonic clock of this process, so the intervals of its instances can be compared. Those of
// other processes cannot.
type history struct {
	start time.Time

	mu      sync.Mutex
	own     map[string]bool // instances of this process
	terms   []*term
	leaders map[string][]succession // by role, epochs ascending
	changed chan struct{}           // closed, and replaced, when something was recorded
}

func newHistory() *history {
	return &history{
		start: time.Now(), own: map[string]bool{}, leaders: map[string][]succession{},
		changed: make(chan struct{}),
	}
}

// now is the time since the start of the history.
func (h *history) now() time.Duration { return time.Since(h.start) }

// record wraps the work of a role. It records when the work begins, as its first act, when the
// context ends, and when the work has returned, as its last.
func (h *history) record(instance string, work Lead) Lead {
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
	h.succeed(role, succession{epoch, instance, t.from})
	h.notify()
	return t
}

func (h *history) demoted(t *term) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !t.demoted {
		t.to, t.demoted = h.now(), true
	}
}

// ended records that the work has returned. A term whose work returned before its context had ended
// is over as well.
func (h *history) ended(t *term) {
	h.demoted(t)
	h.mu.Lock()
	defer h.mu.Unlock()
	t.returned, t.over = h.now(), true
	h.notify()
}

// Observe makes a history an event.Sink, which learns of leaders in other processes. Those of this
// process are known by their work.
func (h *history) Observe(e event.Event) {
	c, ok := e.(event.LeaderChanged)
	if !ok || c.Leader == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.own[c.Leader] {
		h.succeed(c.Role, succession{c.Epoch, c.Leader, h.now()})
		h.notify()
	}
}

// succeed keeps s if its term is new. h.mu is held.
func (h *history) succeed(role string, s succession) {
	if all := h.leaders[role]; len(all) == 0 || s.epoch > all[len(all)-1].epoch {
		h.leaders[role] = append(all, s)
	}
}

func (h *history) notify() {
	close(h.changed)
	h.changed = make(chan struct{})
}

// running are the terms that an instance is in now.
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

// successor waits for the first term of the role after the one of that epoch.
func (h *history) successor(ctx context.Context, role string, epoch uint64) (s succession, err error) {
	err = h.await(ctx, func() bool {
		i := slices.IndexFunc(h.leaders[role], func(s succession) bool { return s.epoch > epoch })
		if i >= 0 {
			s = h.leaders[role][i]
		}
		return i >= 0
	})
	return s, err
}

// awaitLeader waits until one of the instances leads a role.
func (h *history) awaitLeader(ctx context.Context, instances []string) error {
	return h.await(ctx, func() bool {
		return slices.ContainsFunc(h.terms, func(t *term) bool {
			return !t.over && slices.Contains(instances, t.instance)
		})
	})
}

// awaitEnd waits until the work of a term has returned, and returns when that was.
func (h *history) awaitEnd(ctx context.Context, t term) (at time.Duration, err error) {
	err = h.await(ctx, func() bool {
		i := slices.IndexFunc(h.terms, func(u *term) bool {
			return u.instance == t.instance && u.epoch == t.epoch && u.over
		})
		if i >= 0 {
			at = h.terms[i].returned
		}
		return i >= 0
	})
	return at, err
}

// await waits for a condition on what is recorded, which is called with h.mu held.
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

// all is a copy of every term so far. Those that have not ended are cut off now.
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

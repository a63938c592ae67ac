package election

import (
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// trust is how long the terms of one session may be trusted. Every reader compares it with the
// clock, so it expires even if the goroutine that renews it hangs.
//
// A lost session never gets its trust back: the next session has its own trust.
type trust struct {
	clock clock.Clock
	until atomic.Int64 // for terms, an instant on the holder's scale
	lease atomic.Int64 // for the session itself: what holds no role needs no more
}

func newTrust(c clock.Clock) *trust {
	b := &trust{clock: c}
	b.end()
	return b
}

func (b *trust) holds() bool { return int64(b.clock.Holder()) < b.until.Load() }

// left is for how much longer the session itself is trusted.
func (b *trust) left() time.Duration {
	until, now := b.lease.Load(), int64(b.clock.Holder())
	if until <= now {
		return -1
	}
	return time.Duration(until - now)
}

func (b *trust) extend(terms, lease record.Instant) {
	b.until.Store(int64(terms))
	b.lease.Store(int64(lease))
}

func (b *trust) end() { b.extend(math.MinInt64, math.MinInt64) }

// reliance is that roles of one session depend on a role of another one, or of the same. The
// session of that role tells the other one about each of its terms, and until when it is trusted.
// That is what ends the terms that depend on it; Term.Valid asks both by itself.
type reliance struct {
	on    *Election
	by    *Session
	id    uint64
	parts int // how many roles; the lock of by guards it

	term  uint64 // as told last; only the loop of on's session has it
	until record.Instant
}

// rely has a role of s that is about to be joined depend on another one.
func (s *Session) rely(on *Election) *reliance {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.relies[on]
	if r == nil {
		if s.relies == nil {
			s.relies = map[*Election]*reliance{}
		}
		r = &reliance{on: on, by: s, id: s.commands.Add(1)}
		s.relies[on] = r
		on.session.relied(func(all []*reliance) []*reliance { return append(all, r) })
	}
	r.parts++
	return r
}

// unrely is called when a role that depends on another one was left.
func (s *Session) unrely(r *reliance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.parts--; r.parts > 0 {
		return
	}
	delete(s.relies, r.on)
	r.on.session.relied(func(all []*reliance) []*reliance {
		return slices.DeleteFunc(all, func(other *reliance) bool { return other == r })
	})
}

// relied replaces the list of those that depend on roles of s.
func (s *Session) relied(change func([]*reliance) []*reliance) {
	for {
		before := s.reliances.Load()
		var all []*reliance
		if before != nil {
			all = slices.Clone(*before)
		}
		if all = change(all); s.reliances.CompareAndSwap(before, &all) {
			return
		}
	}
}

// begin has the session that is relied on tell what is so now. The other one has joined the role
// before, and knows nothing of it.
func (r *reliance) begin() {
	s := r.on.session
	s.box.Put(message{run: func(*protocol.Machine, record.Now) {
		r.term, r.until = 0, 0
		s.tellReliances()
	}})
}

// tellReliances tells those that depend on roles of s what has changed for them. Only the loop
// calls it.
func (s *Session) tellReliances() {
	all := s.reliances.Load()
	if all == nil {
		return
	}
	for _, r := range *all {
		term, until := uint64(0), record.Instant(0)
		if t := r.on.term.Load(); t != nil {
			term, until = t.id, t.until()
		}
		if term != r.term || until != r.until {
			r.term, r.until = term, until
			r.by.post(protocol.Condition{ID: r.id, Term: term, Until: until})
		}
	}
}

// waitsFor is what others are told that a role of s waits for.
func (c RoleConfig) waitsFor(s *Session) string {
	switch {
	case c.While == nil:
		return ""
	case c.While.session == s:
		return c.While.cfg.Role
	}
	return c.While.cfg.Role + "@" + c.While.session.cfg.Bucket
}

// past is a term that has ended, for those that cannot be found any more.
var past = func() *Term {
	t := &Term{}
	t.over.Store(true)
	return t
}()

// under is the term of the role that e depends on, by its id; nil if e depends on none.
func (e *Election) under(id uint64) *Term {
	if e.cfg.While == nil {
		return nil
	}
	if t := e.cfg.While.latest.Load(); t != nil && t.id == id {
		return t
	}
	return past
}

// until is until when a term is trusted if nothing more is heard, and those that it depends on.
func (t *Term) until() record.Instant {
	until := record.Instant(math.MaxInt64)
	for ; t != nil; t = t.under {
		if t.over.Load() {
			return math.MinInt64
		}
		until = min(until, record.Instant(t.trust.until.Load()))
	}
	return until
}

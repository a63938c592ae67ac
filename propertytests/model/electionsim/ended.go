package electionsim

import (
	"errors"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/ending"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// The longest time until the end of a process is known, and for how long its end is told.
const (
	evidence = 5 * time.Millisecond
	telling  = 4 * time.Second
)

// tellGuard tells the guard of a process what the process writes to its lease.
func (p *process) tellGuard(x protocol.Write, revision uint64) {
	if !p.w.plan.Guarded || x.Key != record.LeaseKey(p.peer()) {
		return
	}
	if word, ok := ending.Said(x.Key, x.Value, x.Delete, revision); ok {
		if err := p.book.Hear(word); err != nil {
			p.w.violate("%s: its guard refuses a word: %v", p, err)
		}
	}
}

// tellGuardOfEnd tells the guard that the process has closed its lease itself: one that has done so
// says so, however it has learned of that.
func (p *process) tellGuardOfEnd(nonce string) {
	w, key := p.w, record.LeaseKey(p.peer())
	closed := slices.ContainsFunc(slices.Concat(w.store.keys[key], w.store.lost), func(c *commit) bool {
		return c.entry.Peer == p.peer() && c.entry.Lease.State == record.Closed && c.entry.Lease.Nonce == nonce
	})
	switch {
	case nonce != "" && !closed:
		w.violate("%s says that it has closed %s, which it has not", p, key)
	case nonce != "" && w.plan.Guarded:
		if err := p.book.Hear(ending.Word{Key: key, Nonce: nonce, Closed: true}); err != nil {
			w.violate("%s: its guard refuses a word: %v", p, err)
		}
	}
}

// crash ends a life as a kill of the process does. If it has a guard, the guard sees that, and ends
// its sessions.
func (p *process) crash() {
	p.stop()
	w := p.w
	until := w.now + telling
	for _, e := range p.book.Ended() {
		w.after(time.Duration(1+w.draws.Int64N(int64(evidence))), func() { w.endSession(e, until) })
	}
}

// endSession does what comes next about a session of a process that has ended, by a connection of
// the guard's own, which loses as much as every other one.
func (w *world) endSession(e *ending.Ending, until time.Duration) {
	if w.now > until || e.Next() == ending.Over {
		return
	}
	if w.store.deleted {
		return
	}
	next := func(d time.Duration, known func()) {
		w.after(d, func() {
			known()
			w.endSession(e, until)
		})
	}
	lost := func(perMille int) bool { return !w.quiet && w.draws.IntN(1000) < perMille }
	way := func() time.Duration { return time.Duration(1 + w.draws.Int64N(int64(hop))) }
	if e.Next() == ending.Read {
		if lost(w.plan.Noise.LostReply) {
			next(100*time.Millisecond, func() {})
			return
		}
		next(way(), func() {
			if c := w.store.newest(e.Key()); c == nil {
				e.Missing()
			} else {
				e.Found(&c.entry)
			}
		})
		return
	}
	value, expect, ttl := e.Kill(MaxTTL)
	if lost(w.plan.Noise.LostRequest) {
		next(100*time.Millisecond, func() { e.Written(record.Unknown) })
		return
	}
	w.after(way(), func() {
		c := w.store.write(w.now, protocol.Write{Key: e.Key(), Value: value, Delete: true, Expect: expect, TTL: ttl})
		outcome := record.Refused
		if c != nil {
			outcome = record.Won
			w.Counts.Ended++
			w.checkKill(nil, c)
			w.checkAtRest(c)
			w.committed(c)
		}
		if lost(w.plan.Noise.LostReply) {
			next(100*time.Millisecond, func() { e.Written(record.Unknown) })
			return
		}
		next(way(), func() { e.Written(outcome) })
	})
}

// errDenied is what a driver says when the server refuses what a process may not write.
var errDenied = errors.New("the permission is missing")

// estate is what is left of a session that has ended by a missing permission: work that has yet to
// return, of the terms that it led and of its workload, and its lease.
type estate struct {
	p        *process
	peer     record.Peer
	session  uint64
	until    time.Duration // it was trusted so long, and without a will nobody leads before
	terms    []*legacy
	workload time.Duration // when it returns; 0: there is none
}

// legacy is a term of an estate.
type legacy struct {
	role    string
	epoch   uint64
	returns time.Duration // stuck: never
}

const stuck = longest * 2

// bequeath ends the life of a process as a driver does whose session has ended by a missing
// permission. The workload ends first, or does not; then the terms have as long as their work may
// take to drain. If all has returned, the lease is closed. A handler may begin just when the
// session ends.
func (p *process) bequeath() {
	w := p.w
	w.Counts.Denied++
	e := &estate{p: p, peer: p.peer(), session: p.session, until: p.until}
	for _, t := range p.busy {
		if !t.drained && t.session == p.session && p.keeps(t) {
			e.terms = append(e.terms, &legacy{t.role, t.epoch, w.now + p.returnsAfter(t)})
		}
	}
	if p.working != 0 && p.working == p.session || p.session != 0 && w.draws.IntN(8) == 0 {
		e.workload = w.now + time.Duration(w.draws.Int64N(int64(2*p.cfg.Drain)))
	}
	w.estates = append(w.estates, e)
	will, _, ok := p.m.LastWill()
	ends := max(w.now, e.workload)
	if !ok || ends > w.now+p.lasts(p.cfg.Drain) {
		w.Counts.WillsKept++
		return
	}
	for _, t := range e.terms {
		ends = max(ends, t.returns)
	}
	if ends > w.now+2*p.lasts(p.cfg.Drain) {
		w.Counts.WillsKept++
		return
	}
	delay, n := time.Duration(1+w.draws.Int64N(int64(hop))), w.plan.Noise
	switch {
	case !p.link || w.draws.IntN(1000) < n.LostRequest:
		return
	case w.draws.IntN(1000) < n.Late:
		delay = time.Duration(w.draws.Int64N(int64(6 * time.Second)))
	}
	w.after(ends-w.now+delay, func() {
		if c := p.opened.write(w.now, will); c != nil {
			w.Counts.Wills++
			w.checkWill(e, c)
			w.committed(c)
		}
	})
}

// keeps reports whether a term was led until now, or drains and keeps its role still.
func (p *process) keeps(t *work) bool {
	c := p.opened.newest(record.RoleKey(t.role))
	return c != nil && c.entry.Role.ID == p.instance && c.entry.Role.Session == t.session ||
		slices.ContainsFunc(p.out, func(e protocol.Effect) bool {
			x, ends := e.(protocol.EndTerm)
			return ends && x.Role == t.role && x.Term == t.term
		})
}

// returnsAfter is when the work of a term returns that has been cancelled with its session.
func (p *process) returnsAfter(t *work) time.Duration {
	w := p.w
	switch n := w.draws.IntN(1000); {
	case t.stuck:
		return stuck
	case n < 100:
		return stuck * time.Duration(n%2)
	case n < 500:
		return time.Duration(w.draws.Int64N(int64(3 * p.cfg.Drain)))
	}
	return time.Duration(w.draws.Int64N(int64(20 * time.Millisecond)))
}

// checkWill: a lease is closed by a will only when all that ran under it has returned.
func (w *world) checkWill(e *estate, c *commit) {
	if e.workload > w.now {
		w.violate("I1: %v is at work, and its lease is closed by its will: %s", e.peer, c)
	}
}

// checkWills: nobody leads a role while work runs of a term of it whose session has ended by a
// missing permission, before the time for which that session was trusted is over.
func (w *world) checkWills(p *process, t *work) {
	w.estates = slices.DeleteFunc(w.estates, func(e *estate) bool { return e.until <= w.now })
	for _, e := range w.estates {
		for _, l := range e.terms {
			if l.role == t.role && l.returns > w.now && l.epoch < t.epoch {
				w.violate("E1: %s leads %s at epoch %d, and the work of %v at epoch %d runs until %v, in a session that was "+
					"trusted until %v", p, t.role, t.epoch, e.peer, l.epoch, l.returns, e.until)
			}
		}
	}
}

package electionsim

import (
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

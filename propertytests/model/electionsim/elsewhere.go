package electionsim

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// errOther is what a driver says about a bucket of the same name that is not the one it has opened.
var errOther = errors.New("another bucket has this name")

// newElsewhere is another bucket of the same name, as two sites have that each made their own. Its
// revisions are none of ours.
func newElsewhere() *store {
	s := newStore()
	s.first = firstRevision * 10_000_000
	return s
}

// goElsewhere makes the connection of a process lead to the other bucket for a while. The
// requests that are under way, and those that the process sends before it has asked which bucket
// this is, arrive there. Then it asks, and ends; or the connection is back before.
func (p *process) goElsewhere(d time.Duration) {
	w, life := p.w, p.life
	if !p.link || p.elsewhere {
		return
	}
	w.Counts.Elsewhere++
	p.elsewhere, p.strayed, p.feed = true, true, nil
	p.building++
	noticed := w.rng.IntN(2) == 0
	w.after(w.between(0, 100*time.Millisecond), func() {
		if p.life == life && noticed {
			p.hand(protocol.Connection{Up: false})
			p.hand(protocol.Connection{Up: true})
		}
	})
	w.after(d, func() {
		if p.life != life {
			return
		}
		if p.elsewhere && w.rng.IntN(2) == 0 { // it asks there
			w.Counts.Refused++
			p.hand(protocol.Broken{Fault: errOther})
			return
		}
		p.elsewhere = false
		p.rebuild()
	})
}

// reaches is the bucket to which the connection of the process leads now.
func (p *process) reaches() *store {
	if p.elsewhere {
		return p.w.other
	}
	return p.w.store
}

// checkOneBucket: what a machine believes of itself, it believes by a record of the bucket that it
// has opened.
func (p *process) checkOneBucket(what string, revision uint64) {
	if in := p.w.bucketOf(revision); in != p.opened || p.w.other.at(revision) != nil {
		p.w.violate("two buckets are one: %s has %s at revision %d of a bucket that it has not opened", p, what, revision)
	}
}

// landedElsewhere takes in the outcome of a write to the other bucket.
func (w *world) landedElsewhere(reply *protocol.Written, c *commit) {
	if c == nil {
		return
	}
	w.Counts.WonElsewhere++
	reply.Outcome, reply.Revision = record.Won, c.entry.Revision
	w.trace.add(w.now, nil, "elsewhere", c)
}

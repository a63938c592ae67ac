package electionsim

import (
	"errors"

	"github.com/rolemanager/rolemanager/fencing"
)

// ledger is what has landed in a resource. The ledger decides by that alone which write may land
// next; it knows nothing of guards.
type ledger struct {
	last *shown // the last that has landed, nil: nothing has
}

// arrival is a write and what has become of it, for the trace.
type arrival struct {
	*shown
	landed bool
}

func (a arrival) String() string {
	if a.landed {
		return a.shown.String() + " lands"
	}
	return a.shown.String() + " is refused"
}

// checkLedger checks E3: once a write of a later term has landed, none of an earlier one does,
// whenever and however often the resource was recreated; every other one does; and no two holders
// show one epoch. And who leads in the bucket that is there is not refused.
func (w *world) checkLedger(l *ledger, s *shown, landed bool, refused error) {
	last := l.last
	switch {
	case last != nil && (last.work.lost() || s.work.lost()):
		w.afterLoss(l, s, landed)
	case last != nil && s.epoch == last.epoch && (s.holder != last.holder || s.token != last.token):
		w.violate("E3: %v, and %v: two holders of one epoch", s, last)
	case landed && last != nil && s.epoch < last.epoch:
		w.violate("E3: %v lands after %v", s, last)
	case landed:
		w.Counts.GuardAdmitted++
		l.last = s
	case last == nil || s.epoch > last.epoch || s.epoch == last.epoch:
		w.violate("E3: %v is refused, and nothing later has landed: %v", s, refused)
	case !errors.Is(refused, fencing.ErrStale):
		w.violate("E3: %v is refused after %v, but not as stale: %v", s, last, refused)
	case s.leads() && !s.outlives() && w.lostAt == 0:
		w.violate("E3: %v is refused after %v, though it leads", s, last)
	default:
		w.countRefused(s, last)
	}
}

// countRefused tells the refused writes of a term that has rotated since from those of one that is
// over.
func (w *world) countRefused(s, last *shown) {
	w.Counts.GuardRefused++
	if s.work == last.work {
		return
	}
	w.Counts.GuardDeposed++
	if s.work.in != last.work.in {
		w.Counts.GuardOutlived++
	}
}

// leads reports whether the process of a write believes in the epoch that it has shown.
func (s *shown) leads() bool {
	p, t := s.p, s.work
	return p.alive && p.life == s.life && t.leading && t.epoch == s.epoch && p.until > p.w.now
}

// outlives reports whether the term of a write, or its session, is of a bucket that is gone:
// the leader in the next one does not know of it.
func (s *shown) outlives() bool {
	return s.work.in.deleted || s.p.w.bucketOf(s.work.session).deleted
}

// afterLoss is what is left of that when the bucket has lost the record of one of the two: epochs
// are granted again, and a leader by one of them is refused until epochs have passed those that a
// resource has seen. Still none below lands, nor a second holder of the same, unless the resource
// was recreated from the epoch alone.
func (w *world) afterLoss(l *ledger, s *shown, landed bool) {
	if !landed {
		w.Counts.GuardAfterLoss++
		return
	}
	if s.epoch < l.last.epoch {
		w.violate("E3: %v lands after %v", s, l.last)
	}
	if s.epoch == l.last.epoch && (s.holder != l.last.holder || s.token != l.last.token) && !w.resource(s.work.role).bare {
		w.violate("E3: %v lands after %v, of another holder", s, l.last)
	}
	l.last = s
}

package electionsim

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/fencing"
)

// resource is what the leaders of one role write to: a guard of package fencing stands before it.
// It keeps beside its data by which token the last write was, and is recreated from that now and
// then, as after a restart.
type resource struct {
	guard  *fencing.Guard
	kept   fencing.Token
	bare   bool // it was recreated from an epoch alone, and nothing has landed since
	ledger ledger
}

// shown is one write to a resource, with what of its term it shows.
type shown struct {
	p      *process
	life   int
	work   *work
	epoch  uint64
	token  string
	holder string
}

// serve has the work of a term write to the resource of its role now and then, until it has
// returned or its process has crashed. Some of it looks whether its process leads before it takes
// the token, the other has not noticed yet that it does not.
func (p *process) serve(t *work) {
	w, pause := p.w, 800*time.Millisecond
	if w.quiet {
		pause *= 5 // there is hardly anything left to be late for
	}
	p.inLife(w.drawn(0, pause), func() {
		if t.drained {
			return
		}
		if believes := t.leading && p.until > w.now; believes || w.oneOf(2) {
			p.write(t)
		}
		p.serve(t)
	})
}

// write takes the token, and shows it at once, or a good while later: the process may stop in
// between.
func (p *process) write(t *work) {
	w := p.w
	s := &shown{p, p.life, t, t.epoch, t.shows, p.instance}
	if !w.oneOf(8) {
		s.leave()
		return
	}
	p.inLife(w.drawn(0, 3*time.Second), func() {
		if !t.drained {
			s.leave()
		}
	})
}

// leave is where a write goes out. It is under way for as long as the network likes, whatever
// becomes of the process, and the next one may overtake it.
func (s *shown) leave() {
	w, travel := s.p.w, s.p.w.drawn(50*time.Microsecond, 2*time.Millisecond)
	if !s.work.leading || s.p.until <= w.now {
		w.Counts.GuardUnaware++
	}
	if w.oneOf(8) {
		travel = w.drawn(0, 6*time.Second)
	}
	w.after(travel, func() { w.resource(s.work.role).take(s) })
}

// resource is that of a role.
func (w *world) resource(role string) *resource {
	r := w.resources[role]
	if r == nil {
		r = &resource{guard: new(fencing.Guard)}
		w.resources[role] = r
	}
	return r
}

// take shows the guard a write that has arrived, which lands if it is admitted.
func (r *resource) take(s *shown) {
	w := s.p.w
	if w.oneOf(20) {
		r.restart(w)
	}
	t := s.fence()
	landed, refused := r.admit(w, t)
	if landed {
		r.kept = t
	}
	w.trace.add(w.now, s.p, "guard", arrival{s, landed})
	w.checkLedger(&r.ledger, s, landed, refused)
	r.bare = r.bare && !landed
	if landed && w.oneOf(50) {
		r.forge(w, t)
	}
}

// admit asks the guard, in either way, and reports whether the write lands.
func (r *resource) admit(w *world, t fencing.Token) (landed bool, refused error) {
	if w.oneOf(2) {
		refused = r.guard.Do(t, func() error { landed = true; return nil })
		return landed, refused
	}
	refused = r.guard.Admit(t)
	return refused == nil, refused
}

// forge shows the epoch of the write that has just landed as another holder would, or with another
// id: no process ever does.
func (r *resource) forge(w *world, t fencing.Token) {
	w.Counts.GuardForged++
	forged := fencing.NewToken(t.Role, t.Holder, t.Epoch, 0, uuid.Max)
	if w.oneOf(2) {
		forged = fencing.NewToken(t.Role, "nobody", t.Epoch, 0, uuid.Nil)
	}
	if landed, refused := r.admit(w, forged); landed || !errors.Is(refused, fencing.ErrConflict) {
		w.violate("E3: the forged %v lands: %t, refused as %v", forged, landed, refused)
	}
}

// restart recreates the guard from the stored token: all of the token, as text or not, or the epoch
// alone.
func (r *resource) restart(w *world) {
	floor := r.kept
	r.bare = false
	if !floor.IsZero() {
		w.Counts.GuardRemade++
		switch w.draws.IntN(4) {
		case 0:
			floor, r.bare = fencing.Token{Epoch: floor.Epoch}, true
		case 1:
			floor, r.bare = fencing.Token{Role: floor.Role, Epoch: floor.Epoch}, true
		case 2:
			text, err := fencing.Parse(floor.Encode())
			if err != nil {
				w.violate("E3: what %v is encoded as is not read: %v", floor, err)
			}
			floor = text
		}
	}
	r.guard = fencing.NewGuard(floor)
}

// fence is what a write shows. The id stands for a UUID: what the sim calls its tokens has room in
// one.
func (s *shown) fence() fencing.Token {
	var id uuid.UUID
	copy(id[:], s.token)
	return fencing.NewToken(s.work.role, s.holder, s.epoch, 0, id)
}

func (s *shown) String() string {
	return fmt.Sprintf("the write of %s/%d.%d to %s at epoch %d", s.p.instance, s.p.slot, s.life, s.work.role, s.epoch)
}

// drawn and oneOf draw for the resources from a source of their own, so that a seed is the same
// schedule with them and without.
func (w *world) drawn(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(w.draws.Int64N(int64(hi-lo)+1))
}

func (w *world) oneOf(n int) bool { return w.draws.IntN(n) == 0 }

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

package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// window bounds the role writes (claims, vacates, rotations) that one session has in flight.
//
// Without a bound, 10,000 claims on a slow store end unknown, are tried again all at once, starve
// the heartbeat that they depend on, and never come to rest. It widens by one with each outcome
// that is known, which is twice as wide after each round trip, and narrows by half when one is
// unknown (slow start and multiplicative decrease; Jacobson 1988). The pace of a busy store does
// not foretell the next time: a window that has emptied is never wider than at first (after RFC
// 5681, section 4.1). That is also what is fast: a server answers what has come together together,
// when all of it is stored, so a process that sends a thousand at once waits for all of them before
// the first is led, and then works on the answers while the store has nothing to do.
//
// A store may take writes faster than the watch shows them, and a beat is shown behind all that was
// stored before it. A process that continued as fast as the store would end its own trust, and have
// everything to claim again. So while the watch is late the window is shut, until all is shown that
// has been stored through it.
//
// A heartbeat waits in the store behind the writes in flight. If they take the store longer than
// OpTimeout, the heartbeat is unknown, the next one is refused, and a late watch explains the
// refusal too late for the lease. So a write that took more than half of OpTimeout does not widen
// the window: the delay, not the first loss, says that the store is full (as in TCP Vegas; Brakmo
// and Peterson 1995).
type window struct {
	size     int
	inflight int
	stored   uint64 // the highest revision that is known of a write that was won
	// roles whose write waits for a place, each once; one that is looked at in the same step as they
	// are let in may be before them
	queue  []*RoleView
	claims int // of those, how many want to claim
	first  int // its size at first

	pace time.Duration // of a write among many in flight; 0: not measured
}

// enter takes a place for a write of rv; without one, rv is looked at again when it has come to its
// turn.
func (m *Machine) enter(rv *RoleView) bool { return m.enterOr(rv, false) }

func (m *Machine) enterOr(rv *RoleView, claim bool) bool {
	w := &m.window
	if m.room() > 0 {
		w.inflight++
		return true
	}
	if !rv.Notes.queuing {
		rv.Notes.queuing, rv.Notes.claiming = true, claim
		w.queue = append(w.queue, rv)
		if claim {
			w.claims++
		}
	}
	return false
}

// called notes that rv no longer waits.
func (w *window) called(rv *RoleView) {
	if rv.Notes.claiming {
		w.claims--
	}
	rv.Notes.queuing, rv.Notes.claiming = false, false
}

// room is how many places are free.
func (m *Machine) room() int {
	if m.shut() {
		return 0
	}
	return max(m.window.size-m.window.inflight, 0)
}

// shut reports whether no write of a role may be sent, however few are in flight: since claims go
// together, or the watch is late.
func (m *Machine) shut() bool {
	t := &m.together
	return t.holds || t.places > 0 || t.flight.id != 0 || m.unseenTogether() || m.late()
}

// late reports whether the watch is behind with what was stored through the window, and there is
// trust to lose. One that is as late without that comes no sooner for our waiting.
func (m *Machine) late() bool {
	return m.view.Delivered() < m.window.stored && m.behind() && m.trusted()
}

// leave gives the place of a write back.
func (m *Machine) leave(o record.Outcome, revision uint64, took time.Duration) {
	w := &m.window
	w.inflight--
	w.stored = max(w.stored, revision)
	switch {
	case o == record.Unknown:
		w.narrow()
	case took <= m.cfg.OpTimeout/2:
		if !w.full(m.cfg.OpTimeout / 2) {
			w.size = min(w.size+1, maxWindow)
		}
	}
	if w.inflight == 0 {
		w.size = min(w.size, w.first)
	}
}

// full reports whether as many writes as the window lets through take the store longer than that,
// by its pace. The writes that are answered now were sent when it had less to do.
func (w *window) full(most time.Duration) bool {
	return w.size >= w.first/2 && w.pace*timesOf(w.size) > most
}

func (w *window) narrow() { w.size = max(w.size/2, min(minWindow, w.first)) }

// paced notes how long a write took that was sent as the last of so many in flight. Among few it
// says more of the way to the store than of the store.
func (w *window) paced(among int, took time.Duration) {
	switch each := took / time.Duration(max(among, 1)); {
	case among < w.first/2:
	case w.pace == 0:
		w.pace = each
	default:
		w.pace += (each - w.pace) / 8
	}
}

// refill lets as many look again as there is room for.
func (m *Machine) refill() {
	w := &m.window
	n := min(m.room(), len(w.queue))
	for _, rv := range w.queue[:n] {
		w.called(rv)
		m.touchRole(rv)
	}
	if w.queue = w.queue[n:]; len(w.queue) == 0 {
		w.queue = nil
	}
}

func timesOf(n int) time.Duration { return time.Duration(n) }

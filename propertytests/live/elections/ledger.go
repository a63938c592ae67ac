package elections

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Hold is one stretch in which a process believed that it leads a role.
type Hold struct {
	Role, Process  string
	Session, Epoch uint64

	From    time.Time // promoted
	Until   time.Time // belief was gone by then, as the Ledger says; zero: not yet
	Drained time.Time // the work has returned; zero: not yet
	Cause   error

	seen     time.Time // IsLeader was last true
	deadline time.Time // of the session, as it was last read; zero: never
	early    bool      // IsLeader was seen true, and the work has not begun
}

func (h Hold) String() string {
	at := func(t time.Time) string {
		if t.IsZero() {
			return "now"
		}
		return t.Format("02 15:04:05.000000")
	}
	return fmt.Sprintf("%s led %s at epoch %d (session %d) from %s until %s, drained %s, cause %v",
		h.Process, h.Role, h.Epoch, h.Session, at(h.From), at(h.Until), at(h.Drained), h.Cause)
}

// Ledger is who believed what, from when to when. A stretch begins when the term does.
//
// On the virtual clock nothing is late: a stretch ends when the work's context does, and later if
// IsLeader is seen true later.
//
// In real time goroutines run when they come to it, so that the end of the context may be written
// down long after it. But belief ends by itself at the session's deadline, no matter what runs. So
// a stretch ends at the earlier of the two, with the deadline as it was last read, and never before
// IsLeader was last seen true. Two stretches are not exact then:
//   - A stretch is too short if the deadline was put off after it was last read, and has passed
//     before it was read again. That takes a process that is not renewed in time and then stands
//     still, or a few milliseconds between two samples.
//   - A stretch is too long if belief has ended before the deadline and that is written down late.
//     As a rule nobody else may lead meanwhile, so that it is not a false alarm: a role is given
//     away after its work has returned, which is written down before, and a process that takes it
//     from a session waits until a margin after its deadline. Only what is taken away by force, or
//     is lost in the store, may be led sooner: a TTL after that, which a process that sees nothing
//     and then stands still may write down too late.
type Ledger struct {
	mu         sync.Mutex
	holds      map[string][]*Hold // by role, as they began
	violations []error
	samples    int
	realtime   bool
}

// NewLedger returns a ledger of nobody.
func NewLedger(realtime bool) *Ledger {
	return &Ledger{holds: map[string][]*Hold{}, realtime: realtime}
}

// Promoted says that a term began at that moment. Its session's deadline is as in Believed, read
// while the term was valid; it is the beginning if the term was over before.
func (l *Ledger) Promoted(process, role string, session, epoch uint64, at, deadline time.Time) *Hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.holds[role] {
		if h.Process == process && h.Epoch == epoch && h.early {
			*h = Hold{
				Role: role, Process: process, Session: session, Epoch: epoch, From: earlier(h.From, at), seen: h.seen,
				deadline: deadline,
			}
			return h
		}
	}
	h := &Hold{Role: role, Process: process, Session: session, Epoch: epoch, From: at, deadline: deadline}
	l.holds[role] = append(l.holds[role], h)
	return h
}

// working says that the process leads the role and its work has begun.
func (l *Ledger) working(process, role string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.holds[role], func(h *Hold) bool { return h.Process == process && h.Until.IsZero() })
}

// Ended says that belief was gone at the latest then.
func (l *Ledger) Ended(h *Hold, at time.Time, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !h.Drained.IsZero() { // the work had returned before anybody came to write down that its context had ended
		at = earlier(at, h.Drained)
	}
	h.Until, h.Cause = later(h.Until, l.end(h, at)), cause
}

// end is when a stretch ended of which it is said that it had ended by then.
func (l *Ledger) end(h *Hold, at time.Time) time.Time {
	if l.realtime {
		at = earlier(at, h.deadline)
	}
	return later(h.seen, at)
}

func (l *Ledger) drained(h *Hold, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.Until.IsZero() {
		h.Until = l.end(h, at)
	}
	h.Drained = at
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// Believed says that IsLeader was true at that moment, and when the session's deadline was then. A
// reader of both looks at the clock first: a reading that takes long then makes the deadline too
// early, and not too late. A term that rotates has later epochs than the one it began with.
func (l *Ledger) Believed(process, role string, epoch uint64, at, deadline time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples++
	holds := l.holds[role]
	for i := len(holds) - 1; i >= 0; i-- {
		if h := holds[i]; h.Process == process && (h.Epoch == epoch || h.Epoch < epoch && h.Until.IsZero()) {
			h.seen = later(h.seen, at)
			if deadline.After(at) {
				h.deadline = deadline
			}
			if !h.Until.IsZero() {
				h.Until = later(h.Until, at)
			}
			return
		}
	}
	if l.realtime {
		// The term may have begun long after that moment, between the look at the clock and the question.
		// When it did, its work will say.
		return
	}
	// Promoted at this very moment, and the work has not begun: as short as it is known to be, until
	// it begins.
	l.holds[role] = append(holds, &Hold{
		Role: role, Process: process, Epoch: epoch, From: at, Until: at, Drained: at, seen: at, early: true,
	})
}

// undrained is a stretch of a process in a session whose work had not returned by then, nil for
// none.
func (l *Ledger) undrained(role string, session uint64, at time.Time) *Hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.holds[role] {
		if h.Session == session && (h.Drained.IsZero() || h.Drained.After(at)) {
			copied := *h
			return &copied
		}
	}
	return nil
}

func (l *Ledger) violated(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.violations = append(l.violations, fmt.Errorf(format, args...))
}

// Holds are the stretches of a role so far.
func (l *Ledger) Holds(role string) (holds []Hold) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.holds[role] {
		holds = append(holds, *h)
	}
	return holds
}

// Terms counts the stretches of all roles, Samples how often IsLeader was seen true.
func (l *Ledger) Terms() (terms, samples int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, holds := range l.holds {
		terms += len(holds)
	}
	return terms, l.samples
}

// reled reports whether the work of a role has begun in a second term.
func (l *Ledger) reled(role string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	begun := 0
	for _, h := range l.holds[role] {
		if !h.early {
			begun++
		}
	}
	return begun > 1
}

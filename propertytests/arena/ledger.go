package arena

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
	Until   time.Time // the work context has ended, or IsLeader was last seen true; zero: not yet
	Drained time.Time // the work has returned; zero: not yet
	Cause   error

	seen  time.Time // IsLeader was last true
	early bool      // IsLeader was seen true, and the work has not begun
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

// Ledger is who believed what, from when to when.
type Ledger struct {
	mu         sync.Mutex
	holds      map[string][]*Hold // by role, as they began
	violations []error
	samples    int
	sampled    bool // only IsLeader counts
}

func newLedger() *Ledger { return &Ledger{holds: map[string][]*Hold{}} }

func (l *Ledger) promoted(process, role string, session, epoch uint64, at time.Time) *Hold {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, h := range l.holds[role] {
		if h.Process == process && h.Epoch == epoch && h.early {
			*h = Hold{Role: role, Process: process, Session: session, Epoch: epoch, From: earlier(h.From, at), seen: h.seen}
			return h
		}
	}
	h := &Hold{Role: role, Process: process, Session: session, Epoch: epoch, From: at}
	l.holds[role] = append(l.holds[role], h)
	return h
}

// working says that the process leads the role and its work has begun.
func (l *Ledger) working(process, role string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.holds[role], func(h *Hold) bool { return h.Process == process && h.Until.IsZero() })
}

// ended says that belief was gone at the latest then.
func (l *Ledger) ended(h *Hold, at time.Time, cause error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sampled {
		at = later(h.From, h.seen)
	}
	h.Until, h.Cause = later(h.Until, at), cause
}

func (l *Ledger) drained(h *Hold, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.Until.IsZero() {
		if h.Until = at; l.sampled {
			h.Until = later(h.From, h.seen)
		}
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

// believed says that IsLeader was true at that moment. A term that rotates has later epochs than the one it began with.
func (l *Ledger) believed(process, role string, epoch uint64, at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.samples++
	holds := l.holds[role]
	for i := len(holds) - 1; i >= 0; i-- {
		if h := holds[i]; h.Process == process && (h.Epoch == epoch || h.Epoch < epoch && h.Until.IsZero()) {
			if h.seen = at; !h.Until.IsZero() {
				h.Until = later(h.Until, at)
			}
			return
		}
	}
	if l.sampled {
		// The term may have begun long after that moment, between the look at the clock and the question. When it did, its
		// work will say.
		return
	}
	// Promoted at this very moment, and the work has not begun: as short as it is known to be, until it begins.
	l.holds[role] = append(holds, &Hold{
		Role: role, Process: process, Epoch: epoch, From: at, Until: at, Drained: at, seen: at, early: true,
	})
}

// undrained is a stretch of a process in a session whose work had not returned by then, nil for none.
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

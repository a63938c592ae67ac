package worker

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
)

type drainPhase uint8

const (
	working   drainPhase = iota
	finishing            // nothing new; running handlers may finish
	leaving              // running handlers were cancelled, and their tasks are given back
)

// drain is the end of a worker whose session is being closed. The worker is finishing until the
// timeout, then leaving until another timeout. It ends earlier when all attempts have ended and are
// settled.
type drain struct {
	phase drainPhase
	until time.Time
}

func (d *drain) begin(timeout time.Duration) {
	d.phase, d.until = finishing, time.Now().Add(timeout)
}

// drained advances a drain, and reports whether it is over.
func (s *worker) drained(d *drain, now time.Time) bool {
	if s.machine.Live() == 0 && s.machine.Unacked() == 0 {
		return true
	}
	if now.Before(d.until) {
		return false
	}
	if d.phase == finishing {
		d.phase, d.until = leaving, now.Add(s.handingBack())
		for _, x := range s.runs {
			x.cancel(taskerr.ErrDraining)
		}
		return false
	}
	s.stuck(d)
	s.stubborn = len(s.runs) > 0
	s.abandon()
	return true
}

// handingBack is how long cancelled handlers may take to return, and their tasks to be given back.
func (s *worker) handingBack() time.Duration {
	return max(s.h.Config().OpTimeout, 2*s.cfg.AnswerTimeout)
}

// stuck reports which handlers still run at the end of a drain that has cancelled them. The session
// is then not marked as closed but left to run out, so that their tasks run elsewhere no sooner
// than if the process had crashed.
func (s *worker) stuck(d *drain) {
	if d.phase != leaving || len(s.runs) == 0 {
		return
	}
	names := make([]string, 0, len(s.runs))
	for id, x := range s.runs {
		names = append(names, id+" ("+x.kind+")")
	}
	slices.Sort(names)
	more := ""
	if n := len(names) - maxStuck; n > 0 {
		names, more = names[:maxStuck], fmt.Sprintf(" and %d more", n)
	}
	s.unreturned = fmt.Errorf("%w: %s%s", taskerr.ErrHandlersStuck, strings.Join(names, ", "), more)
	s.h.Emit(event.Fault{Meta: s.meta(), Doing: "drain " + s.cfg.Namespace, Attempts: 1, Err: s.unreturned})
}

// maxStuck bounds how many tasks the fault names.
const maxStuck = 16

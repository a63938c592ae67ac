package assign

import "time"

type drainPhase uint8

const (
	working   drainPhase = iota
	finishing            // nothing new; what runs may finish
	leaving              // what runs was cancelled and is given back
)

// drain is the end of a shift whose session is being closed.
//
//	working ──close──► finishing ──timeout──► leaving ──timeout──► over
//	                       └── all has ended and is settled ──► over
type drain struct {
	phase drainPhase
	until time.Time
}

func (d *drain) begin(timeout time.Duration) {
	d.phase, d.until = finishing, time.Now().Add(timeout)
}

// drained moves a drain on, and reports whether it is over.
func (s *shift) drained(d *drain, now time.Time) bool {
	if s.machine.Live() == 0 && s.machine.Unacked() == 0 {
		return true
	}
	if now.Before(d.until) {
		return false
	}
	if d.phase == finishing {
		d.phase, d.until = leaving, now.Add(max(s.h.Config().OpTimeout, 2*s.a.cfg.AnswerTimeout))
		for _, x := range s.runs {
			x.cancel(ErrDraining)
		}
		return false
	}
	s.abandon()
	return true
}

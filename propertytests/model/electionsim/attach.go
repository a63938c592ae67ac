package electionsim

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
)

// A driver gives these errors for a bucket that is not there, or not the one that it has opened.
var (
	errGone      = errors.New("the bucket was not found")
	errMadeAgain = errors.New("the bucket was deleted and recreated")
)

// attach makes a watch as a driver does: if there is no bucket, that fails; and then it asks when
// the bucket was made, and has no watch without an answer.
func (p *process) attach() {
	building := p.building
	switch {
	case p.w.store.deleted:
		p.confirm(func(fault error) {
			switch {
			case p.building != building:
			case fault != nil:
				p.hand(protocol.Broken{Fault: fault})
			default:
				p.rebuild()
			}
		})
	case p.elsewhere:
		p.w.Counts.Refused++
		p.hand(protocol.Broken{Fault: errOther})
	case p.opened.deleted && p.w.chance(200):
		p.rebuild()
	case p.opened.deleted:
		p.hand(protocol.Broken{Fault: errMadeAgain})
	case p.isAnother():
		p.hand(protocol.Broken{Fault: errOther})
	default:
		p.watch()
	}
}

// inquire finds out why nobody received a write. One inquiry is for all that came to nobody before
// its end.
func (p *process) inquire(told func(error)) {
	p.unheard = append(p.unheard, told)
	if len(p.unheard) > 1 {
		return
	}
	p.confirm(func(fault error) {
		all := p.unheard
		p.unheard = nil
		for _, told := range all {
			told(fault)
		}
	})
}

// confirm asks a second time: a bucket that was not found counts as gone only if it is not found
// then either.
func (p *process) confirm(then func(error)) {
	p.inLife(300*time.Millisecond, func() {
		if p.w.store.deleted && p.link {
			then(errGone)
		} else {
			then(nil)
		}
	})
}

// inLife does something after a while, in the same life of the process, which does nothing while it
// is paused.
func (p *process) inLife(d time.Duration, do func()) {
	life := p.life
	p.w.after(d, func() {
		switch {
		case p.life != life:
		case p.paused:
			p.inLife(50*time.Millisecond, do)
		default:
			do()
		}
	})
}

// outlived reports whether a session has ended because its bucket has, and counts it.
func (p *process) outlived(fault error) bool {
	switch {
	case !p.opened.deleted:
		return false
	case errors.Is(fault, errGone):
		p.w.Counts.Gone++
	case errors.Is(fault, errMadeAgain):
		p.w.Counts.MadeAgain++
	default:
		return false
	}
	return true
}

// comeBack: the supervisor of the process starts it again.
func (p *process) comeBack() {
	p.returning = true
	p.w.after(p.w.between(0, 2*time.Second), p.restart)
}

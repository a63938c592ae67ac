package tasksim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// pause stops a process for a while, as SIGSTOP does: it does nothing, and what comes for it waits.
// Its clock continues, so belief in its session may be over when it continues itself, and its
// session dead; it looks at that clock before it does anything.
func (p *participant) pause(d time.Duration) {
	w := p.w
	w.Pauses++
	p.stopped = true
	p.expire(func() bool { return p.stopped })
	w.after(d, p.goOn)
}

// goOn lets a process do what has waited, in any order but that of its connection.
func (p *participant) goOn() {
	if !p.stopped {
		return
	}
	p.stopped = false
	held := p.held
	p.held = nil
	p.w.Held += len(held)
	for _, do := range held {
		p.w.after(p.w.upTo(p.w.Delay), func() { p.does(do) })
	}
	p.w.after(p.w.upTo(p.w.Delay), func() { p.does(p.rejoin) })
}

// does has a process do something, now or when it continues.
func (p *participant) does(do func()) {
	if p.stopped {
		p.held = append(p.held, do)
		return
	}
	do()
}

// later has a process do something after a time by its own clock.
func (p *participant) later(d time.Duration, do func()) {
	p.w.after(time.Duration(float64(d)/(1+p.rate)), func() { p.does(do) })
}

// at is the reading of a clock that goes as the process's.
func (p *participant) at() time.Duration {
	return p.w.now + time.Duration(float64(p.w.now)*p.rate)
}

// instant is the process's monotonic clock.
func (p *participant) instant() record.Instant { return record.Instant(p.at()) }

// maxRate is by how much a clock may be fast or slow.
const maxRate = 0.03

// off is by how much its clock may be off over a time.
func (p *participant) off(d time.Duration) time.Duration {
	return time.Duration(float64(d) * max(p.rate, -p.rate))
}

package gather

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// pace is how long the store takes for a write that goes alone, among many.
//
// It is the time in which a group of them was answered, or sent if that took longer: answers that
// come at once, after they were held up, do not make a store fast. It is no more than a write's
// part of the time that a write took beyond the way: a store far away is not slow. And it follows
// the fast groups sooner than the slow ones: a busy machine makes every store slow, and a batch
// does not help against that.
type pace struct {
	each  time.Duration  // 0: not measured
	at    record.Instant // when it was
	asked bool           // a few go alone to measure it again
	way   way

	count int // answers of the present group
	from  mark
}

// mark is a write: when it was sent, and answered. There is none without an answer.
type mark struct{ sent, answered record.Instant }

const (
	group      = 16 // answers
	paceMemory = 2 * time.Second
)

func (p *pace) known(now record.Instant) bool { return p.each > 0 && now < p.at.Add(paceMemory) }

// answered notes an answer. left writes are still in flight: among few, the time says more of the
// way to the store, and of who writes, than of the store.
func (p *pace) answered(now record.Instant, t Ticket, left int) {
	took := now.Sub(t.sent)
	p.way.took(now, took)
	switch {
	case left < fewest-1:
		p.from = mark{}
		return
	case p.from.answered == 0:
		p.from, p.count = mark{t.sent, now}, 0
		return
	}
	if p.count++; p.count < group {
		return
	}
	each := max(now.Sub(p.from.answered), t.sent.Sub(p.from.sent)) / group
	each = max(min(each, (took-p.way.least())/time.Duration(t.among)), 1)
	switch {
	case p.each == 0 || now >= p.at.Add(10*paceMemory):
		p.each = each
	case each < p.each:
		p.each -= (p.each - each) / 4
	default:
		p.each += (each - p.each) / 16
	}
	p.at, p.asked, p.count, p.from = now, false, 0, mark{t.sent, now}
}

// way is the least that a write has taken, of late: the time to the store and back, and the
// store's for one write.
type way struct {
	present, before time.Duration // of a span of time each, 0: none
	since           record.Instant
}

const waySpan = 10 * time.Minute

func (w *way) took(now record.Instant, d time.Duration) {
	if now >= w.since.Add(waySpan) {
		w.before, w.present, w.since = w.present, 0, now
	}
	if w.present == 0 || d < w.present {
		w.present = d
	}
}

func (w *way) least() time.Duration {
	if w.before == 0 {
		return w.present
	}
	return min(w.present, w.before)
}

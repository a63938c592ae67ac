package gather

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// pace is how long the store takes for a write that goes alone, among many.
//
// Answers come in bursts: a server takes all that waits, stores one after the other, and answers
// when it has stored the last. So what is measured holds whole bursts. It is one of two spans:
//   - A busy time: a write was sent when nothing was in flight, and all that were sent since are
//     answered.
//   - A stretch of a flow that does not end: from an answer to the answer to a write that was sent
//     after it. If the time between the two writes was longer, that counts: answers that come at
//     once, after they were held up, do not make a store fast.
//
// Of the time for each write only a part counts, as large as the part of the time beyond the way
// that the writes took themselves: a store far away is not slow.
//
// A low one of the last spans counts. Every store seems slow behind the writes of others and on a
// busy machine, and a batch waits for those too.
type pace struct {
	each  samples
	at    record.Instant // when the last one was measured
	asked bool           // a few go alone to measure it again
	way   way

	busy, flow span
}

// span is one that has begun with a write, and what was answered since.
type span struct {
	sent, answered record.Instant // of that write; answered is 0 before there is an answer
	count          int
	took           time.Duration // by all of those
}

func (x *span) add(took time.Duration) {
	x.count++
	x.took += took
}

// each is how long the store took for each write of a span of this length, 0 when nothing can be
// said: among few, the time says more of the way to the store, and of who writes, than of the
// store.
func (x *span) each(long, way time.Duration) time.Duration {
	if x.count < group || x.took < fewest*long {
		return 0
	}
	n := time.Duration(x.count)
	return max(time.Duration(float64(long/n)*(1-float64(n*way)/float64(x.took))), 1)
}

const (
	group      = 16 // answers
	paceMemory = 2 * time.Second
)

func (p *pace) known(now record.Instant) bool { return p.at > 0 && now < p.at.Add(paceMemory) }

// sent notes that a write is sent alone. So many are in flight with it.
func (p *pace) sent(now record.Instant, among int) {
	if among == 1 {
		p.busy, p.flow = span{sent: now}, span{}
	}
}

// more notes that many writes are sent now that have waited. The next answers may come in one burst
// with theirs, and so late. No stretch goes over that.
func (p *pace) more() { p.flow = span{} }

// answered notes an answer. left writes are still in flight.
func (p *pace) answered(now record.Instant, t Ticket, left int) {
	took := now.Sub(t.sent)
	p.way.took(now, took)
	p.busy.add(took)
	p.flow.add(took)
	switch f := &p.flow; {
	case f.answered == 0:
		p.flow = span{sent: t.sent, answered: now}
	case f.count >= group && t.sent >= f.answered:
		p.measured(now, f.each(max(now.Sub(f.answered), t.sent.Sub(f.sent)), p.way.least()))
		p.flow, p.busy.answered = span{sent: t.sent, answered: now}, now
	}
	if left == 0 && p.busy.answered == 0 { // else it was long, and is measured already
		p.measured(now, p.busy.each(now.Sub(p.busy.sent), p.way.least()))
	}
}

func (p *pace) measured(now record.Instant, each time.Duration) {
	if each == 0 {
		return
	}
	if now >= p.at.Add(10*paceMemory) {
		p.each = samples{}
	}
	p.each.add(each)
	p.at, p.asked = now, false
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

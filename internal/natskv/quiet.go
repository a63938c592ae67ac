package natskv

import (
	"strconv"
	"time"
)

// Writes whose caller hears of it anyway when they are stored, because the stream republishes what it stores. An answer would
// say the same once more, so the server is asked for few of them:
//
//	one asks ──▶ what is submitted until it is answered is quiet ──▶ the next one asks ──▶ …
//
// A server takes the messages of a connection in turn. When one that asked is answered, the quiet ones that were submitted
// meanwhile are on their way, or stored and their copies are on their way back, or something was wrong with them: they are
// given as long as the answer has taken, twice, and are then ended as Unknown. A caller that submits one at a time asks always;
// and all ask when nothing was heard of a whole round, until something is: nothing is stored, or the copies do not arrive.

// quietGrace is the least that quiet writes are given. It is well above any round trip.
const quietGrace = 100 * time.Millisecond

// round is a write that has asked, and the quiet ones since.
type round struct {
	asks    uint64 // its number, 0 when it was answered
	began   time.Time
	quiet   []uint64
	timeout time.Duration
}

// Reserve gives the number of a write that will be submitted by SubmitHeard.
func (w *Writer) Reserve() (number uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	return w.last
}

// SubmitHeard is Submit for a write of which the caller hears when it is stored, and calls Heard then. The server may not be
// asked for an answer. If nothing is heard either, the outcome is Unknown with ErrUnheard, as soon as the writes around it are
// answered and after twice the timeout at the latest; Submit then tells what is wrong, or that the write stands.
func (w *Writer) SubmitHeard(number uint64, op Write, timeout time.Duration, done func(Result)) {
	msg, err := op.message(w.at, w.inbox+strconv.FormatUint(number, 36))
	if err != nil {
		done(Result{Err: err})
		return
	}
	p := &pending{number: number, msg: msg, done: done}
	w.mu.Lock()
	if w.round.asks == 0 {
		w.round = round{asks: number, began: time.Now(), timeout: timeout}
	} else {
		p.quiet = !w.deaf
	}
	if !p.quiet {
		w.mu.Unlock()
		w.enter(p, timeout)
		return
	}
	if w.closed {
		w.mu.Unlock()
		done(Result{Err: ErrClosed})
		return
	}
	p.index, msg.Reply = -1, "" // no time of its own
	w.open[number] = p
	w.round.quiet = append(w.round.quiet, number)
	w.mu.Unlock()
	w.queue.Put(number)
}

// Heard ends a write that is stored, as Won at a revision that is not known.
func (w *Writer) Heard(number uint64) {
	w.mu.Lock()
	w.deaf = false
	w.mu.Unlock()
	w.end(number, Result{Outcome: Won})
}

// answered gives the quiet writes of a round the rest of their time, when the one that asked has ended. mu is held. It
// reports whether keepTime has to be woken.
func (w *Writer) answered() (wake bool) {
	r := w.round
	w.round = round{}
	if len(r.quiet) == 0 {
		return false
	}
	now := time.Now()
	until := now.Add(min(max(2*now.Sub(r.began), quietGrace), r.timeout))
	return w.due.add(&pending{quiets: r.quiet, deadline: until, slot: slot{at: until}})
}

// unheard takes out those of a round's quiet writes of which nothing was heard. mu is held.
func (w *Writer) unheard(round *pending) (late []*pending) {
	for _, number := range round.quiets {
		if p := w.open[number]; p != nil {
			delete(w.open, number)
			late = append(late, p)
		}
	}
	w.deaf = w.deaf || len(late) == len(round.quiets)
	return late
}

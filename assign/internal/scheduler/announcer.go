package scheduler

import (
	"encoding/binary"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// sender sends messages in order, without blocking. It is a *natsconn.Sender.
type sender interface {
	Send(subject, reply string, data []byte)
	MaxPayload() int
	Refresh()
	Stop()
}

// announcer tells those who wait, on <ns>.done.<audience>, how tasks have ended, once their outcomes are stored. What is
// acknowledged to us is announced in full. Of what only the stream shows (the acknowledgement was lost, or the write was another
// scheduler's) it is said that there is something to read. What comes up in one turn of the scheduler's loop goes out at its
// end, a message for each audience: one for each task would cost a task a tenth more. What is large goes to who waits for that
// task: another client that waits for one of them hears of all that are announced together.
//
// Announcements are messages, and may be lost: who waits reads now and then. The scheduler's loop owns it.
type announcer struct {
	out       sender
	subject   func(audience string) string
	most      int               // bytes that a message may have
	bulletins map[string][]byte // of this turn, by audience

	ends map[string]end // by task: outcomes that we have written
	// former are tasks that had ended when the term began, the last ones, in a ring: a scheduler that was lost may have stored
	// their outcomes and not announced them.
	former []string
	next   int
	began  bool // the stream was read up to now, and these were announced
}

// end is how far the outcome of a task is. It is forgotten when the stream has shown it and the write was answered.
type end struct {
	write uint64 // the number of the last write of it
	state ending
}

type ending uint8

const (
	underWay   ending = iota + 1
	announced         // the stream has not shown it yet
	unanswered        // the stream has shown it, and the answer is under way
)

const (
	// maxFormer is more than there usually are writes in flight. Who waits for what is before that reads.
	maxFormer = 4096
	// maxEnds bounds what is kept while the stream shows nothing. What is forgotten is announced twice.
	maxEnds = 1 << 16
	// Bytes: what a bulletin of several announcements may have, and an announcement that goes into it.
	bulletinSize      = 64 << 10
	smallAnnouncement = 2 << 10
	// framing is what an announcement takes in a bulletin besides its task and itself, at most.
	framing = 2 * binary.MaxVarintLen32
	// manyAudiences are more than a turn usually has.
	manyAudiences = 64
)

func newAnnouncer(out sender, subject func(audience string) string, most int) *announcer {
	return &announcer{out: out, subject: subject, most: most, bulletins: map[string][]byte{}, ends: map[string]end{}}
}

// writes hears that an outcome is about to be written, or written again.
func (a *announcer) writes(task string, number uint64) {
	if len(a.ends) >= maxEnds {
		clear(a.ends)
	}
	a.ends[task] = end{number, underWay}
}

// answered hears what became of a write of ours. It is over: what was tried in vain is written again under another number.
func (a *announcer) answered(w *commit, stored bool) {
	if len(w.op.Header) == 0 || w.op.Header[0].Name != record.HeaderOutcome {
		return
	}
	task := w.op.Key[len(record.QueueKey):]
	if stored {
		a.tell(task, record.EncodeAnnouncement(&w.op))
	}
	e, known := a.ends[task]
	switch {
	case known && e.write != w.number: // another one is under way
	case e.state == unanswered:
		delete(a.ends, task)
		if !stored {
			a.toRead(task)
		}
	case stored:
		a.ends[task] = end{w.number, announced}
	default:
		delete(a.ends, task)
	}
}

// reconnected hears that answers may be lost.
func (a *announcer) reconnected() {
	for task, e := range a.ends {
		if e.state == unanswered {
			delete(a.ends, task)
			a.toRead(task)
		}
	}
}

// show hears that the stream shows an outcome.
func (a *announcer) show(task string) {
	switch e := a.ends[task]; {
	case e.state == underWay:
		a.ends[task] = end{e.write, unanswered}
	case e.state == announced:
		delete(a.ends, task)
	case e.state == unanswered: // still
	case a.began:
		a.toRead(task)
	case len(a.former) < maxFormer:
		a.former = append(a.former, task)
	default:
		a.former[a.next] = task
		a.next = (a.next + 1) % maxFormer
	}
}

// begin hears that the stream was read up to now.
func (a *announcer) begin() {
	a.began = true
	for _, task := range a.former {
		a.toRead(task)
	}
	a.former = nil
}

func (a *announcer) toRead(task string) { a.tell(task, nil) }

// tell puts an announcement into a bulletin. What no message can hold is to be read.
func (a *announcer) tell(task string, announcement []byte) {
	if len(task)+len(announcement)+framing > a.most {
		announcement = nil
	}
	to := record.Audience(task)
	if len(announcement) > smallAnnouncement {
		to = task
	}
	size := len(task) + len(announcement) + framing
	b := a.bulletins[to]
	if len(b)+size > min(bulletinSize, a.most) && len(b) > 0 {
		a.out.Send(a.subject(to), "", b)
		b = nil
	}
	a.bulletins[to] = record.Enter(b, task, announcement)
}

// flush sends the bulletins of this turn.
func (a *announcer) flush() {
	for to, b := range a.bulletins {
		a.out.Send(a.subject(to), "", b)
	}
	if len(a.bulletins) > manyAudiences { // walking an emptied map takes what it has held at most
		a.bulletins = map[string][]byte{}
	}
	clear(a.bulletins)
}

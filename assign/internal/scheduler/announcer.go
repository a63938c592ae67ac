package scheduler

import (
	"encoding/binary"

	"github.com/rolemanager/rolemanager/assign/internal/record"
)

// announcer sends the outcomes of tasks to the clients that wait, on <ns>.done.<audience>, after
// the outcomes are stored.
//
// An outcome whose write was acknowledged to us is announced in full. An outcome that only the
// stream shows (the acknowledgement was lost, or another scheduler wrote it) is announced as one to
// read. The announcements of one turn of the loop leave at the end of the turn, in one message for
// each audience: a message for each task would raise the cost of a task by a tenth. A large
// announcement goes only to the clients that wait for that task: a client that waits for one task
// of an audience receives the announcements of all.
//
// Announcements are messages and may be lost, so a client that waits also reads from time to time.
// The loop owns the announcer.
type announcer struct {
	out       sender
	subject   func(audience string) string
	most      int               // bytes that a message may have
	bulletins map[string][]byte // of this turn, by audience
	room      int               // the longest of the last turn: so long becomes the first of the next one

	ends map[string]end // by task: outcomes that we have written
	// former is a ring of the last tasks that had ended when the term began: a scheduler that was
	// lost may have stored their outcomes without announcing them.
	former []string
	next   int
	began  bool // the stream is read up to the present, and the former tasks are announced
}

// end is how far the outcome of a task is. It is dropped when the stream has shown the outcome and
// the write was answered.
type end struct {
	write uint64 // the number of the last write of the outcome
	state ending
}

type ending uint8

const (
	underWay   ending = iota + 1
	announced         // the stream has not shown it yet
	unanswered        // the stream has shown it, and the answer is under way
)

const (
	// maxFormer is more than the usual number of writes in flight. Clients that wait for an earlier
	// outcome read it.
	maxFormer = 4096
	// maxEnds bounds the ends that are kept while the stream shows nothing. An outcome whose end is
	// dropped is announced twice.
	maxEnds = 1 << 16
	// Bytes of a bulletin of several announcements, and of an announcement that goes into one.
	bulletinSize      = 64 << 10
	smallAnnouncement = 2 << 10
	// framing is the most bytes that an announcement adds to a bulletin beyond its task and its own
	// text.
	framing = 2 * binary.MaxVarintLen32
	// manyAudiences is more than a turn usually has.
	manyAudiences = 64
)

func newAnnouncer(out sender, subject func(audience string) string, most int) *announcer {
	return &announcer{out: out, subject: subject, most: most, bulletins: map[string][]byte{}, ends: map[string]end{}}
}

// writing notes that an outcome is about to be written, or written again.
func (a *announcer) writing(task string, number uint64) {
	if len(a.ends) >= maxEnds {
		clear(a.ends)
	}
	a.ends[task] = end{number, underWay}
}

// answered notes the final outcome of a write of ours. A write that failed is tried again under
// another number.
func (a *announcer) answered(w *write, stored bool) {
	if len(w.op.Header) == 0 || w.op.Header[0].Name != record.HeaderOutcome {
		return
	}
	task := w.op.Key[len(record.QueueKey):]
	if stored {
		a.announce(task, record.EncodeAnnouncement(&w.op))
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

// reconnected notes that answers may be lost.
func (a *announcer) reconnected() {
	for task, e := range a.ends {
		if e.state == unanswered {
			delete(a.ends, task)
			a.toRead(task)
		}
	}
}

// shown notes that the stream shows an outcome.
func (a *announcer) shown(task string) {
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

// begin notes that the stream is read up to the present.
func (a *announcer) begin() {
	a.began = true
	for _, task := range a.former {
		a.toRead(task)
	}
	a.former = nil
}

func (a *announcer) toRead(task string) { a.announce(task, nil) }

// announce puts an announcement into a bulletin. An outcome that no message can hold is announced
// as one to read.
func (a *announcer) announce(task string, announcement []byte) {
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
	if b == nil && len(a.bulletins) == 0 {
		b = make([]byte, 0, max(a.room, size))
	}
	a.bulletins[to] = record.Enter(b, task, announcement)
}

// flush sends the bulletins of this turn.
func (a *announcer) flush() {
	longest := 0
	for to, b := range a.bulletins {
		longest = max(longest, len(b))
		a.out.Send(a.subject(to), "", b)
	}
	if longest > 0 {
		a.room = min(longest, bulletinSize)
	}
	if len(a.bulletins) > manyAudiences { // the time to walk an emptied map depends on the most that it ever held
		a.bulletins = map[string][]byte{}
	}
	clear(a.bulletins)
}

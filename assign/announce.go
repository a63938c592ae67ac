package assign

import "github.com/rolemanager/rolemanager/internal/natskv"

// announcer tells those who wait, on <ns>.done.<task>, how a task has ended, once its outcome is stored. What is acknowledged
// to us is announced in full. Of what only the stream shows (the acknowledgement was lost, or the write was another
// scheduler's) an empty message says that there is something to read.
//
// Announcements are messages, and may be lost: who waits reads now and then. The scheduler's loop owns it.
type announcer struct {
	out     *courier
	subject func(task string) string

	ends map[string]ending // of tasks: outcomes that we have written
	// former are tasks that had ended when the term began, the last ones, in a ring: a scheduler that was lost may have stored
	// their outcomes and not announced them.
	former []string
	next   int
	began  bool // the stream was read up to now, and these were announced
}

// ending is how far the outcome of a task is. It is forgotten when the stream has shown it and the write was answered.
type ending uint8

const (
	underWay   ending = iota + 1
	announced         // the stream has not shown it yet
	unanswered        // the stream has shown it, and the answer is under way
)

const (
	// maxFormer is more than the writes that are in flight at once.
	maxFormer = 4096
	// maxEnds bounds what is kept while the stream shows nothing. What is forgotten is announced twice.
	maxEnds = 1 << 16
)

func newAnnouncer(out *courier, subject func(task string) string) *announcer {
	return &announcer{out: out, subject: subject, ends: map[string]ending{}}
}

// writes hears that an outcome is about to be written.
func (a *announcer) writes(task string) { a.set(task, underWay) }

func (a *announcer) set(task string, e ending) {
	if len(a.ends) >= maxEnds {
		clear(a.ends)
	}
	a.ends[task] = e
}

// answered hears what became of a write of ours. It is over: if it is that of an outcome, and was tried in vain, writes is
// called again.
func (a *announcer) answered(op *natskv.Write, stored bool) {
	if len(op.Header) == 0 || op.Header[0].Name != headerOutcome {
		return
	}
	task := op.Key[len(queueKey):]
	shown := a.ends[task] == unanswered
	switch {
	case stored:
		a.out.send(a.subject(task), "", encodeAnnouncement(op))
	case shown:
		a.toRead(task)
	}
	if stored && !shown {
		a.set(task, announced)
	} else {
		delete(a.ends, task)
	}
}

// show hears that the stream shows an outcome.
func (a *announcer) show(task string) {
	switch e := a.ends[task]; {
	case e == underWay:
		a.ends[task] = unanswered
	case e == announced:
		delete(a.ends, task)
	case e == unanswered: // still
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

func (a *announcer) toRead(task string) { a.out.send(a.subject(task), "", nil) }

package scheduler

import (
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Messages to the scheduler's loop.
type (
	answered struct{ m *nats.Msg } // a worker's answer to a frame
	reported struct{ m *nats.Msg } // a worker's report
	queried  struct{ m *nats.Msg } // a request to ctl
)

// answer takes what a worker, or the server, says to a frame.
func (l *scheduler) answer(m *nats.Msg) {
	a, b, _ := strings.Cut(strings.TrimPrefix(m.Subject, l.inbox), ".")
	session, err1 := strconv.ParseUint(a, 36, 64)
	number, err2 := strconv.ParseUint(b, 36, 64)
	if err1 != nil || err2 != nil {
		l.refuse("", record.Malformed)
		return
	}
	if natskv.IsNoResponders(m) {
		l.step(tasks.Unheard{Session: session, Frame: number})
		return
	}
	frame := m.Data
	if control.IsPart(frame) {
		if frame = l.whole(session, frame); frame == nil {
			return // the rest of it is to come
		}
	}
	instance := l.peers[session].instance
	if len(frame) < 2 {
		l.refuse(instance, record.Malformed)
		return
	}
	switch tasks.FrameType(frame[1]) {
	case tasks.FrameAnswer:
		from, _, answers, err := tasks.DecodeAnswers(frame)
		if err != nil || from != session {
			l.refuse(instance, faultOf(err))
			return
		}
		if number == 0 {
			for _, x := range answers {
				l.step(tasks.Stopped{Session: session, ID: x.ID, Attempt: x.Attempt})
			}
			return
		}
		l.step(tasks.Answered{Session: session, Frame: number, Answers: answers})
	case tasks.FrameSynced:
		from, epoch, held, err := tasks.DecodeSynced(frame)
		if reason := l.misdirected(err, epoch, from == session); reason != "" {
			l.refuse(instance, reason)
			return
		}
		l.step(tasks.Synced{Session: session, Held: held})
	default:
		l.refuse(instance, record.Malformed)
	}
}

// faultOf is why a frame is refused that cannot be read, or else is not of whoever has sent it.
func faultOf(err error) string {
	if err != nil {
		return record.Malformed
	}
	return tasks.Foreign.String()
}

// misdirected is why what a worker says is not for the scheduler that we are: another one may know later attempts than we do,
// or we than it. It is empty when it is.
func (l *scheduler) misdirected(err error, epoch uint64, own bool) string {
	switch {
	case err != nil || !own:
		return faultOf(err)
	case epoch < l.books.Term():
		return tasks.StaleEpoch.String()
	case epoch > l.epoch:
		return record.UnknownEpoch
	}
	return ""
}

// refuse counts what was not taken in. Who has sent it in good faith says it again, or to whom it is for.
func (l *scheduler) refuse(instance, reason string) {
	l.emit(event.TaskRejected{Meta: l.h.Meta(), Namespace: l.cfg.Namespace, Worker: instance, Reason: reason})
}

// Bytes of reports that are kept until the books are complete, and that wait for the loop: workers say again what was not answered.
const (
	maxEarly  = 64 << 20
	maxUnread = 256 << 20
)

// reportArrives runs in the connection's goroutine.
func (l *scheduler) reportArrives(m *nats.Msg) {
	size := int64(len(m.Data))
	if l.unread.Add(size) > maxUnread {
		l.unread.Add(-size)
		return
	}
	l.in.Put(reported{m})
}

// report is a worker's report that is not settled yet.
type report struct {
	reply string
	stale []bool
	left  int
}

// entry is one result in it.
type entry struct {
	of    *report
	index int
}

// report tells the books what a worker has done, if it speaks to the scheduler that we are.
func (l *scheduler) report(m *nats.Msg) {
	instance, session, epoch, list, err := tasks.DecodeReport(m.Data)
	own := l.peers[session].instance == instance && m.Subject == l.sub.Report(instance)
	if reason := l.misdirected(err, epoch, own); reason != "" {
		l.refuse(instance, reason)
		return
	}
	if l.early += len(m.Data); !l.books.Ready() && l.early > maxEarly {
		return // it comes again
	}
	r := &report{reply: m.Reply, stale: make([]bool, len(list)), left: len(list)}
	entries := make([]entry, len(list))
	for i := range list {
		entries[i] = entry{r, i}
		f, ref := &list[i], &entries[i]
		switch {
		case f.Verb != tasks.Progressing:
			l.news.done = tasks.Done{
				Session: session, ID: f.ID, Attempt: f.Attempt, Ref: ref,
				Result: tasks.Result{Verb: f.Verb, Delay: f.Delay, Ran: f.Ran, Body: f},
			}
			l.step(&l.news.done)
		case len(f.Data) > l.largest: // it cannot be stored
			l.refuse(instance, tasks.TooLarge.String())
			l.settle(tasks.Settle{Ref: ref, Stale: true})
		default:
			l.progress.Reports++
			l.step(tasks.Progressed{
				Session: session, ID: f.ID, Attempt: f.Attempt, Ran: f.Ran, Fraction: f.Fraction, Checkpoint: f.Data, Ref: ref,
			})
		}
	}
}

// settle answers what was waited for, after it is stored.
func (l *scheduler) settle(e tasks.Settle) {
	switch ref := e.Ref.(type) {
	case *entry:
		r := ref.of
		r.stale[ref.index] = e.Stale
		if r.left--; r.left == 0 {
			l.out.Send(r.reply, "", tasks.EncodeSettled(r.stale))
		}
	}
}

// whole takes a part of a worker's answer, and returns the answer when it is complete, else nil.
func (l *scheduler) whole(session uint64, data []byte) []byte {
	if l.peers[session].instance == "" { // not a worker that was asked
		return nil
	}
	a := l.partial[session]
	if a == nil {
		a = &control.Assembly{}
		l.partial[session] = a
	}
	frame := a.Add(data)
	if frame != nil {
		delete(l.partial, session)
	}
	return frame
}

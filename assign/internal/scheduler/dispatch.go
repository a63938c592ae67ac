package scheduler

import (
	"errors"
	"slices"
	"strconv"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// loading is a frame that waits for payloads.
type loading struct {
	push    tasks.Push
	list    []tasks.Task
	missing map[uint64]int // index in list, by revision of a submission or a checkpoint
}

const frameSize = 512 << 10 // bytes of payloads and what goes with them in one message, if it holds more than one task

// push sends a frame, or waits for its payloads first. A worker has one frame at a time, so a later one replaces it.
func (l *scheduler) push(p tasks.Push) {
	f := &loading{push: p, list: make([]tasks.Task, len(p.List))}
	former := l.loading[p.Session]
	delete(l.loading, p.Session)
	for i := range p.List {
		t := &f.list[i]
		t.Assignment = p.List[i]
		if t.Checkpoint > 0 {
			f.miss(l, former, t.Checkpoint, i)
		}
		x, ok := l.payloads.take(t.ID, t.Revision)
		if !ok && former != nil {
			x, ok = former.loaded(t.Revision)
		}
		if !ok {
			f.miss(l, former, t.Revision, i)
			continue
		}
		t.Payload, t.Trace, t.Header = x.data, x.trace, x.meta
	}
	if len(f.missing) > 0 {
		l.loading[p.Session] = f
		return
	}
	l.dispatch(f)
}

// miss has a record read, unless the frame before this one is waiting for it.
func (f *loading) miss(l *scheduler, former *loading, revision uint64, i int) {
	if f.missing == nil {
		f.missing = map[uint64]int{}
	}
	f.missing[revision] = i
	if former == nil || !former.waits(revision) {
		l.payloads.fetch(want{revision: revision})
	}
}

func (f *loading) waits(revision uint64) bool {
	_, ok := f.missing[revision]
	return ok
}

func (f *loading) loaded(revision uint64) (payload, bool) {
	for i := range f.list {
		if f.list[i].Revision == revision && !f.waits(revision) {
			return payload{f.list[i].Payload, f.list[i].Trace, f.list[i].Header}, true
		}
	}
	return payload{}, false
}

// fetched takes a record that was read. One that is gone was written anew, or belongs to a task that has ended: the books
// will hear of it, and until then the frame goes without that task. Any other fault leaves the frame waiting until it is
// pushed again.
func (l *scheduler) fetched(x fetched) {
	if x.task != "" {
		l.buried(x)
		return
	}
	for session, f := range l.loading {
		i, waits := f.missing[x.revision]
		if !waits {
			continue
		}
		if errors.Is(x.err, natskv.ErrRecordNotFound) {
			l.unsent(&f.push, &f.list[i])
			f.leaveOut(i)
		} else if x.err != nil {
			delete(l.loading, session)
			continue
		} else if t := &f.list[i]; x.revision == t.Checkpoint {
			t.Saved = x.entry.Value
		} else {
			p := payloadOf(&x.entry)
			t.Payload, t.Trace, t.Header = p.data, p.trace, p.meta
		}
		delete(f.missing, x.revision)
		if len(f.missing) == 0 {
			delete(l.loading, session)
			l.dispatch(f)
		}
	}
}

// leaveOut takes a task out of a frame, with what is still read for it.
func (f *loading) leaveOut(i int) {
	for revision, j := range f.missing {
		switch {
		case j == i:
			delete(f.missing, revision)
		case j > i:
			f.missing[revision] = j - 1
		}
	}
	f.list = slices.Delete(f.list, i, i+1)
}

// unsent tells the books, in their next turn, that an assignment of a frame does not go out.
func (l *scheduler) unsent(p *tasks.Push, t *tasks.Task) {
	l.in.Put(tasks.Answered{Session: p.Session, Frame: p.Frame, Answers: []tasks.Answer{{ID: t.ID, Attempt: t.Attempt, Verdict: tasks.Unsent}}})
}

// taskNumbers bounds what the numbers of a task take in a frame, and the lengths of its texts.
const taskNumbers = 160

// dispatch sends a frame in as many messages as its size needs, each signed.
func (l *scheduler) dispatch(f *loading) {
	if !l.t.Valid() {
		return
	}
	p := &f.push
	v := l.envelope(p.Epoch, p.Term, p.Instance, p.Session, p.Frame)
	subject, reply := l.sub.Assign(p.Instance), l.replyTo(p.Session, p.Frame)
	most := l.out.MaxPayload()
	room := min(frameSize, most-record.Headroom)
	for from := 0; from < len(f.list); {
		to, size := from, 0
		for ; to < len(f.list); to++ {
			t := &f.list[to]
			size += len(t.ID) + len(t.Policy.Kind) + len(t.Trace) + len(t.Header) + len(t.Payload) + len(t.Saved) + taskNumbers
			if to > from && size > room {
				break
			}
		}
		frame := tasks.Seal(tasks.EncodeAssign(&v, p.Low, f.list[from:to]), l.h.Signer().Sign)
		if len(frame) <= most {
			l.out.Send(subject, reply, frame)
		} else { // submitted where messages may be larger
			l.out.Refresh()
			for i := range f.list[from:to] {
				l.unsent(p, &f.list[from+i])
			}
		}
		from = to
	}
}

func (l *scheduler) envelope(epoch, term uint64, instance string, session, number uint64) tasks.Envelope {
	return tasks.Envelope{
		Namespace: l.cfg.Namespace, Role: l.cfg.Role, Epoch: epoch, Term: term, Instance: instance, Session: session, Number: number,
	}
}

func (l *scheduler) replyTo(session, frame uint64) string {
	return l.inbox + strconv.FormatUint(session, 36) + "." + strconv.FormatUint(frame, 36)
}

func (l *scheduler) sync(e tasks.Sync) {
	v := l.envelope(e.Epoch, l.books.Term(), e.Instance, e.Session, 0)
	l.out.Send(l.sub.Sync(e.Instance), l.replyTo(e.Session, 0), tasks.Seal(tasks.EncodeSync(&v), l.h.Signer().Sign))
}

func (l *scheduler) stop(e tasks.Stop) {
	v := l.envelope(e.Epoch, e.Term, e.Instance, e.Session, 0)
	frame := tasks.EncodeStop(&v, tasks.Told{ID: e.ID, Attempt: e.Attempt, Serial: e.Serial, Status: e.Status})
	l.out.Send(l.sub.Cancel(e.Instance), l.replyTo(e.Session, 0), tasks.Seal(frame, l.h.Signer().Sign))
}

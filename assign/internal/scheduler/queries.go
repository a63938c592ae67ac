package scheduler

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// maxQueries is how many questions wait at most: who gets no answer asks again.
const maxQueries = 1024

// asked takes a question, in the connection's goroutine.
func (l *scheduler) asked(m *nats.Msg) {
	if l.queries.Add(1) > maxQueries {
		l.queries.Add(-1)
		return
	}
	l.in.Put(queried{m})
}

// query answers a question.
func (l *scheduler) query(m *nats.Msg) {
	l.queries.Add(-1)
	q, ok := control.ReadQuery(m.Data)
	if !ok || m.Reply == "" {
		return
	}
	switch q.Op {
	case control.OpStatus:
		l.respond(m.Reply, l.answerStatus(q))
	case control.OpWatch:
		l.respond(m.Reply, l.answerWatch(q))
	case control.OpList:
		if l.books.Settled() { // before, they may hold tasks that have ended; who gets no answer asks again
			l.respond(m.Reply, l.answerList(q))
		}
	case control.OpOverview:
		l.respond(m.Reply, l.answerOverview())
	default:
		l.respond(m.Reply, control.Answer{Error: "unknown operation"})
	}
}

// respond answers, with less of an overview where all of it does not fit into a message.
func (l *scheduler) respond(to string, a control.Answer) {
	most := l.out.MaxPayload()
	data, err := json.Marshal(a)
	for o := a.Overview; err == nil && len(data) > most && o != nil && len(o.Workers) > 0; data, err = json.Marshal(a) {
		left := len(o.Workers) / 2
		o.Omitted += len(o.Workers) - left
		o.Workers = o.Workers[:left]
	}
	if len(data) > most {
		data, err = json.Marshal(control.Answer{Error: fmt.Sprintf("the answer has %d bytes, and the server's max_payload is %d: raise it", len(data), most)})
	}
	if err == nil {
		l.out.Send(to, "", data)
	}
}

func (l *scheduler) answerStatus(q control.Query) control.Answer {
	g, ok := l.books.Glance(l.now(), q.ID)
	if !ok {
		return control.Answer{}
	}
	return control.Answer{OK: true, Task: statusOf(&g, time.Now())}
}

// answerWatch begins to tell what happens to a task. Its status follows as the first event: what happens meanwhile is not
// lost between the two. A task whose submission has not been read yet has no status, and all of it is told.
func (l *scheduler) answerWatch(q control.Query) control.Answer {
	if !protocol.ValidName(q.ID) {
		return control.Answer{}
	}
	l.step(tasks.Watched{ID: q.ID, For: control.WatchFor})
	if !l.books.Watching(q.ID) {
		return control.Answer{Error: "too many tasks are watched"}
	}
	a := l.answerStatus(q)
	a.OK = true
	return a
}

// answerList is a page of the open tasks. It may be short though others follow: its cost is bounded, whatever the filter
// lets through.
func (l *scheduler) answerList(q control.Query) control.Answer {
	f, limit := q.Page()
	page, next := l.books.List(l.now(), q.Cursor, f, limit)
	a, size, now := control.Answer{OK: true, Cursor: next}, 0, time.Now()
	most := min(control.MaxPageBytes, l.out.MaxPayload()/2)
	for i := range page {
		s := statusOf(&page[i], now)
		if size += statusSize(s); size > most && i > 0 {
			a.Cursor = page[i-1].Cursor
			break
		}
		if page[i].Ending {
			a.Ending = append(a.Ending, len(a.Tasks))
		}
		a.Tasks = append(a.Tasks, *s)
	}
	return a
}

// statusSize is about what a status takes in JSON.
func statusSize(s *control.Task) int {
	n := 256 + len(s.ID) + len(s.Kind) + len(s.Worker)
	if s.Keys != nil {
		n += 2 * (len(s.Keys.Unique) + len(s.Keys.Sticky) + len(s.Keys.Limit))
	}
	return n
}

// statusOf is what the books have of a task, for others.
func statusOf(g *tasks.Glance, now time.Time) *control.Task {
	s := &control.Task{
		ID: g.ID, Kind: g.Kind, State: g.State, Reason: g.Reason, Attempts: g.Tries, Worker: g.Instance, Progress: float64(g.Progress),
		Priority: g.Priority, Submitted: now.Add(-g.Age),
	}
	if g.Due > 0 {
		s.Due = now.Add(g.Due)
	}
	if k := g.Keys; k != nil {
		s.Keys = &control.Keys{Unique: k.Unique, Sticky: k.Sticky, Limit: k.Limit}
	}
	return s
}

func (l *scheduler) answerOverview() control.Answer {
	v := l.books.Overview()
	o := &control.Overview{
		Scheduler: l.h.Instance(), Epoch: v.Epoch, Ready: v.Ready, Trouble: l.commits.ails(time.Now()), Kinds: make([]control.Kind, 0, len(v.Kinds)),
		Workers: make([]control.Worker, 0, len(v.Workers)),
	}
	for _, k := range v.Kinds {
		o.Kinds = append(o.Kinds, control.Kind{
			Kind: k.Kind, Waiting: k.Waiting, Delayed: k.Delayed, Running: k.Running, Paused: k.Paused, Concurrency: k.Concurrency, Rate: k.Rate,
			Reasons: k.Reasons,
		})
	}
	for _, w := range v.Workers {
		o.Workers = append(o.Workers, control.Worker{
			Instance: w.Instance, Session: w.Session, Slots: w.Slots, Load: w.Load, Draining: w.Draining, Drained: w.Drained, Labels: w.Labels,
			Kinds: append([]string{}, w.Kinds...), // JSON knows no nil slice
		})
	}
	return control.Answer{OK: true, Overview: o}
}

// moved tells those who watch a task where it is now. Its end they hear from the stream.
func (l *scheduler) moved(e *tasks.Moved) {
	if e.Outcome != nil {
		return
	}
	if data, err := json.Marshal(statusOf(&e.Glance, time.Now())); err == nil {
		l.out.Send(l.sub.Event(e.Glance.ID), "", data)
	}
}

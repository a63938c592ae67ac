package scheduler

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/control"
	"github.com/rolemanager/rolemanager/assign/internal/feeds"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// queries answers the questions of clients, and sends the changes of the tasks that they watch.
type queries struct {
	*term
	loop
	out      sender
	shortage *shortage
	feeds    *feeds.Feeds
	detail   func(o *control.Overview, now time.Time)
	waiting  atomic.Int32 // questions that wait for the loop
}

// maxQueries is the number of questions that may wait: a client that gets no answer asks again.
const maxQueries = 1024

// arrivedQuery is a client's question.
type arrivedQuery struct{ m *nats.Msg }

// arrive runs in the connection's goroutine.
func (q *queries) arrive(m *nats.Msg) {
	if q.waiting.Add(1) > maxQueries {
		q.waiting.Add(-1)
		return
	}
	q.put(arrivedQuery{m})
}

// handle answers a question.
func (q *queries) handle(m *nats.Msg) {
	q.waiting.Add(-1)
	query, ok := control.ReadQuery(m.Data)
	if !ok || m.Reply == "" {
		return
	}
	switch query.Op {
	case control.OpStatus:
		q.respond(m.Reply, q.answerStatus(query))
	case control.OpWatch:
		q.respond(m.Reply, q.answerWatch(query))
	case control.OpFeed:
		if q.rules.Settled() {
			a := q.feeds.Begin(query, time.Now())
			if a.OK {
				q.step(tasks.Watched{For: control.WatchFor})
			}
			q.respond(m.Reply, a)
		}
	case control.OpList:
		if q.rules.Settled() { // before, the rules may hold tasks that have ended; the client asks again
			q.respond(m.Reply, q.answerList(query))
		}
	case control.OpOverview:
		o := overviewOf(q.rules.Overview())
		o.Scheduler, o.Trouble = q.host.Instance(), q.shortage.sentence(time.Now())
		q.detail(o, time.Now())
		q.respond(m.Reply, control.Answer{OK: true, Overview: o})
	default:
		q.respond(m.Reply, control.Answer{Error: "unknown operation"})
	}
}

// respond answers. An overview that does not fit into a message loses its tenants and idle kinds,
// and then workers until it does.
func (q *queries) respond(to string, a control.Answer) {
	most := q.out.MaxPayload()
	data, err := json.Marshal(a)
	if err == nil && len(data) > most && a.Overview != nil {
		a.Overview.Idle = nil
		for i := range a.Overview.Kinds {
			a.Overview.Kinds[i].Tenants = nil
		}
		data, err = json.Marshal(a)
	}
	for o := a.Overview; err == nil && len(data) > most && o != nil && len(o.Workers) > 0; data, err = json.Marshal(a) {
		left := len(o.Workers) / 2
		o.Omitted += len(o.Workers) - left
		o.Workers = o.Workers[:left]
	}
	if len(data) > most {
		data, err = json.Marshal(
			control.Answer{Error: fmt.Sprintf("the answer has %d bytes, and the server's max_payload is %d: raise it", len(data),
				most)})
	}
	if err == nil {
		q.out.Send(to, "", data)
	}
}

func (q *queries) answerStatus(query control.Query) control.Answer {
	g, ok := q.rules.TaskInfo(q.now(), query.ID)
	if !ok {
		return control.Answer{}
	}
	s := statusOf(&g, time.Now())
	s.Epoch = g.Attempt.Epoch
	return control.Answer{OK: true, Task: s}
}

// answerWatch begins to send the changes of a task. The status of the task follows as the first
// change, so no change between the two is lost. A task whose submission has not been read yet has
// no status, and all its changes are sent.
func (q *queries) answerWatch(query control.Query) control.Answer {
	if !naming.Valid(query.ID) {
		return control.Answer{}
	}
	q.step(tasks.Watched{ID: query.ID, For: control.WatchFor})
	if !q.rules.Watching(query.ID) {
		return control.Answer{Error: "too many tasks are watched"}
	}
	a := q.answerStatus(query)
	a.OK = true
	return a
}

// answerList returns a page of the open tasks. It may be short although others follow: its cost is
// bounded, however few tasks the filter admits.
func (q *queries) answerList(query control.Query) control.Answer {
	f, limit := query.Page()
	page, next := q.rules.List(q.now(), query.Cursor, f, limit)
	a, size, now := control.Answer{OK: true, Epoch: q.first, Cursor: next}, 0, time.Now()
	most := min(control.MaxPageBytes, q.out.MaxPayload()/2)
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

// moved sends the new state of a task to the clients that watch it. Those of one task learn its end
// from the stream.
func (q *queries) moved(e *tasks.TaskChanged) {
	if now := time.Now(); q.feeds.Wanted() {
		q.feeds.Tell(changedStatus(e, now), now)
	}
	if e.Outcome != nil || !q.rules.Watching(e.Info.ID) {
		return
	}
	if data, err := json.Marshal(statusOf(&e.Info, time.Now())); err == nil {
		q.out.Send(q.talk.Event(e.Info.ID), "", data)
	}
}

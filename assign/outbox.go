package assign

import (
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// outbox keeps what handlers have returned until the scheduler has settled it, across schedulers. A few reports are under
// way at a time, so that under load each carries many results.
type outbox struct {
	inbox    string // of the answers; the report's number follows
	findings map[string]tasks.Finding
	queue    []tasks.Held // results to report, in order
	flights  map[uint64]*flight
	last     uint64
	fails    int       // reports in a row without an answer
	pause    time.Time // nothing is sent before
}

// flight is a report that has no answer yet.
type flight struct {
	list  []tasks.Held
	until time.Time
}

const (
	maxFlights  = 4
	maxReported = 512       // results in one report
	reportSize  = 256 << 10 // bytes of results in one report, if it holds more than one
)

func newOutbox(inbox string) outbox {
	return outbox{inbox: inbox, findings: map[string]tasks.Finding{}, flights: map[uint64]*flight{}}
}

// keep stores what a handler has returned; ready queues it.
func (o *outbox) keep(f tasks.Finding) { o.findings[f.ID] = f }

func (o *outbox) ready(id string, a tasks.Attempt) {
	o.queue = append(o.queue, tasks.Held{ID: id, Attempt: a})
}

func (o *outbox) forget(id string, a tasks.Attempt) {
	if o.findings[id].Attempt == a {
		delete(o.findings, id)
	}
}

// again reports everything once more: there is another scheduler.
func (o *outbox) again() {
	clear(o.flights)
	o.queue, o.fails, o.pause = o.queue[:0], 0, time.Time{}
	for id, f := range o.findings {
		o.ready(id, f.Attempt)
	}
}

// answer reads an answer to a report; it runs in the connection's goroutine.
func (o *outbox) answer(m *nats.Msg) acknowledged {
	number, _ := strconv.ParseUint(strings.TrimPrefix(m.Subject, o.inbox), 36, 64) // 0 is none of ours
	stale, err := tasks.DecodeSettled(m.Data)
	return acknowledged{number, stale, err == nil}
}

// acknowledge takes an answer and returns what was settled. Without a scheduler the server answers at once that nobody
// listens: then it is tried again after a while.
func (o *outbox) acknowledge(a acknowledged) []tasks.Held {
	f := o.flights[a.number]
	if f == nil {
		return nil
	}
	if !a.ok || len(a.stale) != len(f.list) {
		f.until = time.Time{} // overdue
		return nil
	}
	delete(o.flights, a.number)
	o.fails = 0
	return f.list
}

// send reports what is to be reported, to the scheduler in view.
func (s *shift) send(now time.Time) {
	o := &s.outbox
	failed := false
	for number, f := range o.flights {
		if !f.until.After(now) {
			delete(o.flights, number)
			o.queue = append(o.queue, f.list...)
			failed = true
		}
	}
	if failed {
		o.fails++
		o.pause = now.Add(min(20*time.Millisecond<<min(o.fails-1, 8), 2*time.Second))
	}
	if s.gate.epoch == 0 || now.Before(o.pause) {
		return
	}
	for len(o.queue) > 0 && len(o.flights) < maxFlights {
		list, size, n := make([]tasks.Finding, 0, min(len(o.queue), maxReported)), 0, 0
		for _, h := range o.queue {
			f, kept := o.findings[h.ID]
			if kept && f.Attempt == h.Attempt {
				if len(list) == maxReported || len(list) > 0 && size+len(f.Data) > reportSize {
					break
				}
				size += len(f.Data) + len(f.ID) + 64
				list = append(list, f)
			}
			n++
		}
		if n == len(o.queue) {
			o.queue = o.queue[:0]
		} else {
			o.queue = append(o.queue[:0], o.queue[n:]...)
		}
		if len(list) == 0 {
			continue
		}
		o.last++
		f := &flight{until: now.Add(s.a.cfg.AnswerTimeout << min(o.fails, 4))}
		for i := range list {
			f.list = append(f.list, tasks.Held{ID: list[i].ID, Attempt: list[i].Attempt})
		}
		o.flights[o.last] = f
		s.out.send(s.a.sub.report(s.h.Instance()), o.inbox+strconv.FormatUint(o.last, 36),
			tasks.EncodeReport(s.h.Instance(), s.h.Session(), s.gate.epoch, list))
	}
}

// next is how long until something is due here.
func (o *outbox) next(now time.Time) time.Duration {
	next := time.Hour
	for _, f := range o.flights {
		next = min(next, max(f.until.Sub(now), 0))
	}
	if len(o.queue) > 0 && len(o.flights) < maxFlights && now.Before(o.pause) {
		next = min(next, o.pause.Sub(now))
	}
	return next
}

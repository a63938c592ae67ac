package assign

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// outbox keeps what handlers have returned until the scheduler has settled it, across schedulers, and reports it together with
// how far those are that still run. A few reports are under way at a time, so that under load each carries many results.
type outbox struct {
	inbox    string // of the answers; the report's number follows
	findings map[string]tasks.Finding
	queue    []item // what is to be reported, in order
	cooling  []cooling
	flights  map[uint64]*flight
	page     []tasks.Finding // of the report that is being made
	last     uint64
	fails    int       // reports in a row without an answer
	pause    time.Time // nothing is sent before
}

// item is an attempt's result, or how far it is: then x is the attempt, and what is told is its latest when it is sent. Number
// says which that was. So the answer to a report of progress is never taken for that to the result of the same attempt.
type item struct {
	held   tasks.Held
	x      *execution
	number uint64
	tries  int // reports of it that had no answer
}

// aloneAfter is after how many of these it goes alone: a report is answered when all in it is settled, and one task that the scheduler
// cannot read is not to keep the others.
const aloneAfter = 2

// reporting is what the loop knows of the reports of one attempt's progress. At most one is under way.
type reporting struct {
	queued, flying, cool bool
	ran                  int64 // of the last one: they are ordered by it
}

// cooling is an attempt whose progress was reported, until it may be again.
type cooling struct {
	x     *execution
	until time.Time
}

// flight is a report that has no answer yet.
type flight struct {
	list  []item
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
	o.queue = append(o.queue, item{held: tasks.Held{ID: id, Attempt: a}})
}

func (o *outbox) forget(id string, a tasks.Attempt) {
	if o.findings[id].Attempt == a {
		delete(o.findings, id)
	}
}

// progress queues how far an attempt is, as soon as that may be told.
func (o *outbox) progress(x *execution) {
	news := x.progress.news()
	if news == nothing || news < atOnce && x.cool || x.queued || x.flying || x.life.ended() != nil {
		return
	}
	x.queued = true
	o.queue = append(o.queue, item{x: x})
}

// warm lets go of the attempts whose progress may be reported again.
func (o *outbox) warm(now time.Time) {
	n := 0
	for ; n < len(o.cooling) && !o.cooling[n].until.After(now); n++ {
		x := o.cooling[n].x
		x.cool = false
		o.progress(x)
	}
	o.cooling = slices.Delete(o.cooling, 0, n)
}

// again reports everything once more: there is another scheduler.
func (o *outbox) again(runs map[string]*execution) {
	clear(o.flights)
	o.queue, o.fails, o.pause = o.queue[:0], 0, time.Time{}
	for id, f := range o.findings {
		o.ready(id, f.Attempt)
	}
	for _, x := range runs {
		x.queued, x.flying = false, false
		o.progress(x)
	}
}

// answer reads an answer to a report; it runs in the connection's goroutine.
func (o *outbox) answer(m *nats.Msg) acknowledged {
	number, _ := strconv.ParseUint(strings.TrimPrefix(m.Subject, o.inbox), 36, 64) // 0 is none of ours
	stale, err := tasks.DecodeSettled(m.Data)
	return acknowledged{number, stale, err == nil}
}

// acknowledge takes an answer and returns the results that were settled. Without a scheduler the server answers at once that
// nobody listens: then it is tried again after a while.
func (o *outbox) acknowledge(a acknowledged) (results []tasks.Held) {
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
	for i, it := range f.list {
		if it.x == nil {
			results = append(results, it.held)
			continue
		}
		it.x.flying = false
		it.x.progress.settle(it.number, a.stale[i])
		o.progress(it.x)
	}
	return results
}

// overdue takes back what reports that were not answered in time have carried.
func (o *outbox) overdue(now time.Time) {
	failed := false
	for number, f := range o.flights {
		if f.until.After(now) {
			continue
		}
		delete(o.flights, number)
		failed = true
		for _, it := range f.list {
			it.tries++
			if it.x != nil {
				it.x.flying, it.x.queued = false, true
			}
			o.queue = append(o.queue, it)
		}
	}
	if failed {
		o.fails++
		o.pause = now.Add(min(20*time.Millisecond<<min(o.fails-1, 8), 2*time.Second))
	}
}

// load takes the next report off the queue: no more than size bytes, if it holds more than one finding. The list is valid until
// the next one.
func (o *outbox) load(now time.Time, size int) (list []tasks.Finding, items []item) {
	clear(o.page)
	list, items = o.page[:0], make([]item, 0, min(len(o.queue), maxReported))
	taken, used := 0, 0
	for _, it := range o.queue {
		f, ok := o.finding(&it)
		alone := it.tries >= aloneAfter
		if ok {
			if len(list) == maxReported || len(list) > 0 && (alone || used+len(f.Data) > size) {
				break
			}
			used += len(f.Data) + len(f.ID) + 64
			list, items = append(list, f), append(items, it)
		}
		if it.x != nil {
			it.x.queued = false
			if it.x.flying = ok; ok {
				o.chill(it.x, now)
			}
		}
		if taken++; ok && alone {
			break
		}
	}
	o.queue, o.page = slices.Delete(o.queue, 0, taken), list
	return list, items
}

// finding is what an item says by now; none when it has become void: the result was settled, or has taken the place of what
// was to be said of progress.
func (o *outbox) finding(it *item) (f tasks.Finding, ok bool) {
	if it.x == nil {
		f, ok = o.findings[it.held.ID]
		return f, ok && f.Attempt == it.held.Attempt
	}
	if it.x.life.ended() != nil || it.x.progress.news() == nothing {
		return f, false
	}
	f, it.number = it.x.progress.take()
	f.ID, f.Attempt = it.x.id, it.x.attempt
	it.x.ran = max(it.x.ran+1, int64(time.Since(it.x.began)))
	f.Ran = it.x.ran
	return f, true
}

// chill keeps an attempt's progress from being reported again at once.
func (o *outbox) chill(x *execution, now time.Time) {
	if !x.cool {
		x.cool = true
		o.cooling = append(o.cooling, cooling{x, now.Add(progressEvery)})
	}
}

// send reports what is to be reported, to the scheduler in view.
func (s *shift) send(now time.Time) {
	o := &s.outbox
	o.overdue(now)
	o.warm(now)
	if s.gate.epoch == 0 || now.Before(o.pause) {
		return
	}
	size := max(min(reportSize, s.out.maxPayload()-headroom), 0)
	for len(o.queue) > 0 && len(o.flights) < maxFlights {
		list, items := o.load(now, size)
		if len(list) == 0 {
			continue
		}
		o.last++
		o.flights[o.last] = &flight{items, now.Add(s.a.cfg.AnswerTimeout << min(o.fails, 4))}
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
	if len(o.cooling) > 0 {
		next = min(next, max(o.cooling[0].until.Sub(now), 0))
	}
	return next
}

package worker

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// outbox keeps the results of handlers until the scheduler has settled them, across schedulers. It
// reports them together with the progress of the handlers that still run. A few reports are under
// way at a time, so that under load each carries many results.
type outbox struct {
	inbox    string // of the answers; the report's number follows
	findings map[string]frame.Finding
	queue    []item // items to report, in order
	doubted  []item // items whose reports had no answer, to report again: the least often reported comes first
	cooling  []cooling
	flights  map[uint64]*flight
	page     []frame.Finding // the report that is being made
	last     uint64
	fails    int       // reports in a row without an answer
	pause    time.Time // nothing is sent before
}

// acknowledged answers a report.
type acknowledged struct {
	number uint64
	stale  []bool
	ok     bool
}

// item is an attempt's result, or its progress. For progress x is the attempt, and the report
// carries the latest progress when it is sent. number says which that was. So the answer to a
// report of progress is never taken for the answer to the result of the same attempt.
//
// A report is answered when all its items are settled, and a task that the scheduler cannot read
// must not hold up the others. So items that had no answer are reported again in halves, until each
// is alone. They are never reported together with items that are reported for the first time, and
// never delay those.
type item struct {
	held    tasks.Held
	x       *execution
	number  uint64
	expired int // reports of it that had no answer
	share   int // how many items its next report may hold, 0 for as many as fit
}

// cooling is an attempt whose progress was reported, until it may be reported again.
type cooling struct {
	x     *execution
	until time.Time
}

// flight is a report that has no answer yet.
type flight struct {
	list  []item
	until time.Time // zero: nobody has listened
}

func (f *flight) doubted() bool { return f.list[0].expired > 0 }

const (
	maxFlights  = 4
	maxDoubted  = 2         // of these, with items that had no answer before
	maxReported = 512       // results in one report
	reportSize  = 256 << 10 // bytes of results in one report, if it holds more than one
)

func newOutbox(inbox string) outbox {
	return outbox{inbox: inbox, findings: map[string]frame.Finding{}, flights: map[uint64]*flight{}}
}

// keep stores the result of a handler; ready queues it.
func (o *outbox) keep(f frame.Finding) { o.findings[f.ID] = f }

func (o *outbox) ready(id string, a tasks.Attempt) {
	o.queue = append(o.queue, item{held: tasks.Held{ID: id, Attempt: a}})
}

func (o *outbox) forget(id string, a tasks.Attempt) {
	if o.findings[id].Attempt == a {
		delete(o.findings, id)
	}
}

// progress queues the progress of an attempt, as soon as it may be reported.
func (o *outbox) progress(x *execution) {
	news := x.progress.news()
	if news == nothing || news < atOnce && x.cool || x.queued || x.flying || x.cancelled.ended() != nil {
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

// again reports everything once more, because there is another scheduler.
func (o *outbox) again(runs map[string]*execution) {
	clear(o.flights)
	o.queue, o.doubted, o.fails, o.pause = o.queue[:0], o.doubted[:0], 0, time.Time{}
	for id, f := range o.findings {
		o.ready(id, f.Attempt)
	}
	for _, x := range runs {
		x.queued, x.flying = false, false
		o.progress(x)
	}
}

// answer reads an answer to a report.
func (o *outbox) answer(m *nats.Msg) acknowledged {
	number, _ := strconv.ParseUint(strings.TrimPrefix(m.Subject, o.inbox), 36, 64) // 0 is not one of ours
	stale, err := frame.DecodeSettled(m.Data)
	return acknowledged{number, stale, err == nil}
}

// readAnswer reads a message that came to the inbox. It runs in the connection's goroutine, or in
// that of the scheduler of the same session.
func (o *outbox) readAnswer(m *nats.Msg) any {
	if a, ok := o.answerOf(m); ok {
		return a
	}
	if c, ok := o.confirmation(m); ok {
		return c
	}
	return o.answer(m)
}

// acknowledge handles an answer and returns the results that were settled. Without a scheduler the
// server answers at once that nobody listens. Then the report is tried again after a while.
func (o *outbox) acknowledge(a acknowledged) (results []tasks.Held) {
	f := o.flights[a.number]
	if f == nil {
		return nil
	}
	if !a.ok || len(a.stale) != len(f.list) {
		f.until = time.Time{}
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

// overdue takes back the items of reports that were not answered in time. If a report without
// doubted items had no answer, all others wait for a moment.
func (o *outbox) overdue(now time.Time) {
	failed, wait := false, false
	for number, f := range o.flights {
		if f.until.After(now) {
			continue
		}
		delete(o.flights, number)
		unheard := f.until.IsZero()
		failed, wait = true, wait || unheard || !f.doubted()
		for _, it := range f.list {
			if it.x != nil {
				it.x.flying, it.x.queued = false, true
			}
			if !unheard {
				it.expired++
				it.share = max(len(f.list)/2, 1)
			}
			o.put(it)
		}
	}
	if failed {
		o.fails++
	}
	if wait {
		o.pause = now.Add(min(20*time.Millisecond<<min(o.fails-1, 8), 2*time.Second))
	}
}

// put queues an item to be reported again.
func (o *outbox) put(it item) {
	if it.expired == 0 {
		o.queue = append(o.queue, it)
		return
	}
	i, _ := slices.BinarySearchFunc(o.doubted, it.expired+1, func(d item, expired int) int { return d.expired - expired })
	o.doubted = slices.Insert(o.doubted, i, it)
}

// load takes the next report off a queue. The report has at most size bytes if it holds more than
// one finding. The list is valid until the next call.
func (o *outbox) load(queue *[]item, now time.Time, size int) (list []frame.Finding, items []item) {
	clear(o.page)
	list, items = o.page[:0], make([]item, 0, min(len(*queue), maxReported))
	taken, used := 0, 0
	for _, it := range *queue {
		f, ok := o.finding(&it)
		if ok {
			if len(list) > 0 && (len(list) == items[0].room() || it.share != items[0].share || used+len(f.Data) > size) {
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
		taken++
	}
	*queue, o.page = slices.Delete(*queue, 0, taken), list
	return list, items
}

// room is how many items a report with this item may hold.
func (it *item) room() int {
	if it.share > 0 {
		return it.share
	}
	return maxReported
}

// finding is the present content of an item. ok is false when the item has become void: the result
// was settled, or a result has taken the place of the progress.
func (o *outbox) finding(it *item) (f frame.Finding, ok bool) {
	if it.x == nil {
		f, ok = o.findings[it.held.ID]
		return f, ok && f.Attempt == it.held.Attempt
	}
	if it.x.cancelled.ended() != nil || it.x.progress.news() == nothing {
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

// report begins the next report. number is 0 when there is nothing to report, or no room for a
// report.
func (o *outbox) report(now time.Time, size int, patience time.Duration) (number uint64, list []frame.Finding) {
	doubted := 0
	for _, f := range o.flights {
		if f.doubted() {
			doubted++
		}
	}
	var items []item
	if len(o.flights) < maxFlights && doubted < maxDoubted {
		list, items = o.load(&o.doubted, now, size)
	}
	if len(o.flights) < maxFlights && len(list) == 0 {
		list, items = o.load(&o.queue, now, size)
	}
	if len(list) == 0 {
		return 0, nil
	}
	o.last++
	o.flights[o.last] = &flight{items, now.Add(patience << min(o.fails, 4))}
	return o.last, list
}

// next is how long it takes until the outbox has something to do.
func (o *outbox) next(now time.Time) time.Duration {
	next := time.Hour
	for _, f := range o.flights {
		next = min(next, max(f.until.Sub(now), 0))
	}
	if len(o.queue)+len(o.doubted) > 0 && len(o.flights) < maxFlights && now.Before(o.pause) {
		next = min(next, o.pause.Sub(now))
	}
	if len(o.cooling) > 0 {
		next = min(next, max(o.cooling[0].until.Sub(now), 0))
	}
	return next
}

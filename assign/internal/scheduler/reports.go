package scheduler

import (
	"sync/atomic"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// reports handles the reports of workers, and answers each after the rules have settled all of its
// results.
type reports struct {
	refusals
	put    func(message any)
	step   func(tasks.Event)
	out    sender
	peers  peers
	writes *writeQueue
	gauges *gauges

	unread atomic.Int64 // bytes of reports that wait for the loop
	early  int          // bytes of reports that came before the rules were ready

	done tasks.Done // told thousands of times a second: one that is used again costs no memory
}

// Workers repeat a report that is not answered, so a report above these bounds is dropped.
const (
	maxEarly  = 64 << 20  // bytes of reports that are handled before the rules are ready
	maxUnread = 256 << 20 // bytes of reports that wait for the loop
)

// arrivedReport is a worker's report.
type arrivedReport struct{ m *nats.Msg }

// report is a worker's report that is not settled yet.
type report struct {
	reply string
	stale []bool
	left  int
}

// reportEntry is one result in a report.
type reportEntry struct {
	of    *report
	index int
}

func newReports(t *term, l loop, out sender, p peers, w *writeQueue, g *gauges) *reports {
	return &reports{refusals: refusals{t, l.emit}, put: l.put, step: l.step, out: out, peers: p, writes: w, gauges: g}
}

// arrive runs in the connection's goroutine, or in that of the worker of the same session. It
// returns false if there is no room.
func (r *reports) arrive(m *nats.Msg) bool {
	size := int64(len(m.Data))
	if r.unread.Add(size) > maxUnread {
		r.unread.Add(-size)
		return false
	}
	r.put(arrivedReport{m})
	return true
}

// read notes that a report waits no longer.
func (r *reports) read(m *nats.Msg) { r.unread.Add(-int64(len(m.Data))) }

// handle gives the rules the results of a report if the report is for the scheduler that we are.
func (r *reports) handle(m *nats.Msg) {
	instance, session, epoch, list, err := frame.DecodeReport(m.Data)
	own := r.peers[session].instance == instance && m.Subject == r.work.Report(instance)
	if reason := r.misdirected(err, epoch, own); reason != "" {
		r.refuse(instance, reason)
		return
	}
	if r.early += len(m.Data); !r.rules.Ready() && r.early > maxEarly {
		return
	}
	rep := &report{reply: m.Reply, stale: make([]bool, len(list)), left: len(list)}
	entries := make([]reportEntry, len(list))
	for i := range list {
		entries[i] = reportEntry{rep, i}
		f, ref := &list[i], &entries[i]
		switch {
		case f.Verb != tasks.Progressing:
			r.done = tasks.Done{
				Session: session, ID: f.ID, Attempt: f.Attempt, Ref: ref,
				Result: tasks.Result{Verb: f.Verb, Delay: f.Delay, Ran: f.Ran, Body: f},
			}
			r.step(&r.done)
		case len(f.Data) > r.writes.largest: // it cannot be stored
			r.refuse(instance, tasks.TooLarge.String())
			r.settle(tasks.Settle{Ref: ref, Stale: true})
		default:
			r.gauges.progress.Reports++
			r.step(tasks.Progressed{
				Session: session, ID: f.ID, Attempt: f.Attempt, Ran: f.Ran, Fraction: f.Fraction, Checkpoint: f.Data, Ref: ref,
			})
		}
	}
}

// settle notes that the rules have settled a result. It answers the report when all its results are
// settled.
func (r *reports) settle(e tasks.Settle) {
	switch ref := e.Ref.(type) {
	case *reportEntry:
		rep := ref.of
		rep.stale[ref.index] = e.Stale
		if rep.left--; rep.left == 0 {
			r.out.Send(rep.reply, "", frame.EncodeSettled(rep.stale))
		}
	}
}

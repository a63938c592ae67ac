package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/peers/queue"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
)

// TTL is the shortest that all peers take: choria's needs a second between its campaigns, three
// quarters of the TTL apart, and the TTL.
const TTL = 4 * time.Second

// Run is one run of the comparison.
type Run struct {
	Quick  bool // small sizes, to see whether it works: the figures are worth nothing
	Repeat int  // how often each job of tasks is done, 0: as often as it says
	// Profiles is the folder for the profiles of processes that throughput makes, "" for none.
	Profiles string
	Sheet    *figures.Sheet
	Log      func(format string, args ...any)
}

// pick is full, or quick in a quick run.
func pick[T any](r *Run, quick, full T) T {
	if r.Quick {
		return quick
	}
	return full
}

// rounds are five, fewer of such as take longer than 20 s but two at least, and one in a quick run.
func (r *Run) rounds(yield func(int) bool) {
	const most, least, each = 5, 2, 20 * time.Second
	began := time.Now()
	for i := range pick(r, 1, most) {
		if i >= least && time.Since(began) > most*each || !yield(i) {
			return
		}
	}
}

// window is how long traffic at rest is counted: a multiple of the periods of all peers, or nearly.
// This library's sessions that have nothing to do beat once in a TTL, choria campaigns every three
// quarters of one, ali-assar and etcd come more often.
const window = 3 * TTL

func (r *Run) add(row figures.Row) {
	if err := r.Sheet.Add(row); err != nil {
		r.Log("%v", err)
	}
	if row.Note != "" {
		row.Note = " (" + row.Note + ")"
	}
	r.Log("%-10s %-12s %-10s %6d  %-28s %.4g%s", row.Job, row.Peer, row.Mode, row.N, row.Figure, row.Value, row.Note)
}

// Election is a job that peers of one kind are put through.
type Election struct {
	Name string
	Do   func(ctx context.Context, r *Run, p elect.Peer) error
}

// Elections are the jobs of elections, in the order in which they run.
var Elections = []Election{
	{"rest", rest},
	{"crash", crash},
	{"handover", buffered(handover)},
	{"frozen", frozen},
	{"mass", buffered(mass)},
	{"herd", herd},
}

// Synced are those of them that a store which syncs every write may slow down, on such a store.
var Synced = []Election{{"handover-synced", synced(handover)}, {"mass-synced", synced(mass)}}

func buffered(do func(context.Context, *Run, elect.Peer, bool) error) func(context.Context, *Run, elect.Peer) error {
	return func(ctx context.Context, r *Run, p elect.Peer) error { return do(ctx, r, p, false) }
}

// synced leaves out the peers that keep everything in memory.
func synced(do func(context.Context, *Run, elect.Peer, bool) error) func(context.Context, *Run, elect.Peer) error {
	return func(ctx context.Context, r *Run, p elect.Peer) error {
		if p.Store == "kube" {
			return nil
		}
		return do(ctx, r, p, true)
	}
}

// Guards show what a guard changes.
var Guards = []Election{{"guarded", guarded}}

// Task is a job of tasks.
type Task struct {
	Name string
	// Rounds is how often the peers do it, in turn: where figures are close to each other, and the
	// machine is not always as fast.
	Rounds int
	Do     func(ctx context.Context, r *Run, p queue.Peer) error
}

// Tasks are the jobs of tasks while nothing fails, in the order in which they run.
var Tasks = []Task{{"throughput", 5, throughput}, {"latency", 1, latency}}

// Reruns are those in which a worker fails.
var Reruns = []Task{{"rerun", 1, rerun}, {"late", 1, late}}

// Elect does the jobs of elections that are chosen, one peer after the other.
func (r *Run) Elect(ctx context.Context, chosen func(job, peer string) bool) {
	do := func(j Election, p elect.Peer) {
		if ctx.Err() == nil && chosen(j.Name, p.Name) {
			r.attempt(j.Name, p.Name, func() error { return j.Do(ctx, r, p) })
		}
	}
	for _, j := range slices.Concat(Elections, Synced) {
		for _, p := range elect.Peers {
			do(j, p)
		}
	}
	for _, j := range Guards {
		for _, p := range elect.Guarded {
			do(j, p)
		}
	}
}

// Queue does those of tasks.
func (r *Run) Queue(ctx context.Context, chosen func(job, peer string) bool) {
	for _, j := range slices.Concat(Tasks, Reruns) {
		able := slices.Clone(queue.Peers)
		for range cmp.Or(r.Repeat, pick(r, 1, j.Rounds)) {
			able = slices.DeleteFunc(able, func(p queue.Peer) bool {
				return ctx.Err() != nil || !chosen(j.Name, p.Name) ||
					!r.attempt(j.Name, p.Name, func() error { return j.Do(ctx, r, p) })
			})
		}
	}
}

// attempt does one job with one peer. A failure becomes a row and a line, and ends neither the run
// nor the other peers: a peer that cannot do a job is a result.
func (r *Run) attempt(job, peer string, do func() error) (ok bool) {
	began := time.Now()
	err := do()
	switch {
	case errors.Is(err, stores.ErrMissing):
		r.Log("%s %s: left out: %v; bench/peers/install.sh installs what is missing", job, peer, err)
		r.add(figures.Row{Job: job, Peer: peer, Figure: "left-out", Note: err.Error()})
	case err != nil:
		r.Log("%s %s: %v", job, peer, err)
		r.add(figures.Row{Job: job, Peer: peer, Figure: "failed", Note: err.Error()})
	}
	r.Log("%s %s took %v", job, peer, time.Since(began).Round(time.Millisecond))
	return err == nil
}

// ms is a span of the shared clock in milliseconds.
func ms(span int64) float64 { return float64(span) / 1e6 }

// within says what was waited for in vain.
func within(d time.Duration) string { return fmt.Sprintf("not within %v", d) }

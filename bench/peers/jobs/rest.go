package jobs

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/peers/elect"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
	"github.com/rolemanager/rolemanager/bench/proc"
)

// rest measures what N roles cost in three processes while nothing happens. A size at which a peer
// does not get all roles led in time is its last.
func rest(ctx context.Context, r *Run, p elect.Peer) error {
	for _, n := range pick(r, []int{1, 100}, []int{1, 10, 100, 1000, 10_000}) {
		err := restAt(ctx, r, p, n)
		if late := (*overdueError)(nil); errors.As(err, &late) {
			r.add(figures.Row{
				Job: "rest", Peer: p.Name, N: n, Figure: "overdue-s", Value: late.limit.Seconds(),
				Note: late.Error(),
			})
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func restAt(ctx context.Context, r *Run, p elect.Peer, n int) error {
	limit := pick(r, 40*time.Second, time.Minute)
	ctx, cancel := context.WithTimeoutCause(ctx, 2*limit, &overdueError{what: "to stand", limit: 2 * limit, of: n})
	defer cancel()
	g, err := newGroup(ctx, p, TTL, false)
	if err != nil {
		return err
	}
	defer g.close()
	var all []*member
	var empty proc.Memory // of all processes, before they contend
	for range 3 {
		x, err := g.join(ctx, manner{direct: true})
		if err != nil {
			return err
		}
		m, err := x.Memory(ctx)
		if err != nil {
			return err
		}
		empty.Heap, empty.Goroutines = empty.Heap+m.Heap, empty.Goroutines+m.Goroutines
		all = append(all, x)
	}
	led := map[string]bool{}
	for i, x := range all {
		if err := x.stand(ctx, 0, n); err != nil {
			return err
		}
		if i > 0 {
			continue
		}
		if _, err := g.await(ctx, "roles are led", limit, n, func(m moment) bool {
			first := m.what == elect.Began && !led[m.of]
			led[m.of] = led[m.of] || first
			return first
		}); err != nil {
			return err
		}
	}
	if err := pause(ctx, g.settled()+2*TTL); err != nil {
		return err
	}
	before, err := g.read(ctx, all)
	if err != nil {
		return err
	}
	from := proc.Now()
	if err := pause(ctx, pick(r, 5*time.Second, window)); err != nil {
		return err
	}
	after, err := g.read(ctx, all)
	if err != nil {
		return err
	}
	t, s := after.Minus(before.Traffic), after.at.Sub(before.at).Seconds()
	row := func(figure string, v float64) {
		r.add(g.row("rest", n, figure, v))
	}
	// Nothing happens, so no term begins; a peer that is too busy to keep its leaders shows it
	// here.
	row("terms-begun", float64(g.count(func(m moment) bool { return m.what == elect.Began && m.at > from })))
	row("messages/s", float64(t.In+t.Out)/s)
	row("messages-in/s", float64(t.In)/s)
	row("messages-out/s", float64(t.Out)/s)
	row("writes/s", float64(t.Writes)/s)
	row("bytes/s", float64(t.BytesIn+t.BytesOut)/s)
	row("cpu-processes-%", (after.processes-before.processes).Seconds()/s*100)
	row("cpu-store-%", (after.store-before.store).Seconds()/s*100)
	var full proc.Memory
	for _, x := range all {
		m, err := x.Memory(ctx)
		if err != nil {
			return err
		}
		full.Heap, full.Goroutines = full.Heap+m.Heap, full.Goroutines+m.Goroutines
	}
	row("goroutines/process", float64(full.Goroutines-empty.Goroutines)/3)
	row("memory-bytes/process", (float64(full.Heap)-float64(empty.Heap))/3)
	return nil
}

// reading is what has been counted up to a moment.
type reading struct {
	stores.Traffic
	processes, store time.Duration // processor time
	at               time.Time
}

// read takes a reading, always in the same order: between two of them each count covers the same
// time.
func (g *group) read(ctx context.Context, all []*member) (r reading, err error) {
	for _, x := range all {
		used, err := x.CPU(ctx)
		if err != nil {
			return r, err
		}
		r.processes += used
	}
	if r.store, err = g.store.CPU(ctx); err != nil {
		return r, err
	}
	r.Traffic, err = g.store.Traffic(ctx)
	r.at = time.Now()
	return r, err
}

package upkeep

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// deadTasks counts, from time to time, the dead tasks that the stream keeps, and reports those that
// leave soon. It reads the headers of the stream, and keeps nothing of them: the state has no
// tasks that have ended.
type deadTasks struct {
	Config
	last time.Time // the look before, zero for none
}

const (
	deadFirst = 2 * time.Second // after the term has begun
	deadEvery = time.Minute
	// mostNotice is how long before a dead task leaves it is reported.
	mostNotice = 24 * time.Hour
)

// run looks until ctx ends.
func (d *deadTasks) run(ctx context.Context) {
	pause, attempts := deadFirst, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		began := time.Now()
		seen, rest, err := d.look(ctx, began)
		switch {
		case err == nil:
			d.report(seen)
			d.last, attempts = began, 0
		case ctx.Err() == nil:
			attempts++
			d.Emit(event.Fault{Meta: d.Meta(), Doing: "count the dead tasks", Err: err, Attempts: attempts})
		}
		pause = max(deadEvery, rest)
	}
}

// look reads the headers of all tasks that are there now. It returns how long to rest after it. The
// first one rests less: until it has ended, nobody knows of the dead tasks.
func (d *deadTasks) look(ctx context.Context, now time.Time) (seen deadSeen, rest time.Duration, err error) {
	seen = deadSeen{kept: map[string]int{}, leaving: map[string]*event.DeadTasksLeaving{}}
	factor := restFactor
	if d.last.IsZero() {
		factor = firstRestFactor
	}
	rest, err = present(ctx, d.Config, factor, func(e *natskv.Entry) error {
		seen.add(e, d.last, now)
		return nil
	})
	return seen, rest, err
}

func (d *deadTasks) report(seen deadSeen) {
	meta, ns := d.Meta(), d.Namespace
	d.Emit(event.DeadTasks{Meta: meta, Namespace: ns, Kept: seen.kept})
	for _, l := range seen.leaving {
		l.Meta, l.Namespace = meta, ns
		d.Emit(*l)
	}
}

// deadSeen is the result of one look.
type deadSeen struct {
	kept    map[string]int
	leaving map[string]*event.DeadTasksLeaving // by kind
}

// add counts a record. A dead task that leaves soon is reported by the first look that is late
// enough; last is the look before, zero for none.
func (s *deadSeen) add(e *natskv.Entry, last, now time.Time) {
	o, err := record.DecodeOutcome(e.Header, nil)
	if err != nil || o == nil || o.Status != tasks.StatusDead {
		return
	}
	s.kept[o.Kind]++
	until := e.KeptUntil()
	if until.IsZero() {
		return
	}
	notice := until.Add(-min(mostNotice, until.Sub(e.Time)/2))
	if notice.After(now) || !notice.After(last) {
		return
	}
	l := s.leaving[o.Kind]
	if l == nil {
		l = &event.DeadTasksLeaving{Kind: o.Kind, At: until}
		s.leaving[o.Kind] = l
	}
	l.Tasks++
	if id := e.Key[len(record.QueueKey):]; l.First == "" || until.Before(l.At) {
		l.First, l.At = id, until
	}
}

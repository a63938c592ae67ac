package scheduler

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// deadLetters holds the dead tasks whose outcome waits for their input: a dead task keeps its
// input, so that it can be submitted again. The tasks that the workers hold bound their number.
type deadLetters struct {
	out      sender
	payloads *payloads
	writes   *writeQueue
	waiting  map[string]*deadLetter // by task
}

type deadLetter struct {
	outcome tasks.WriteOutcome // as the rules have asked for it last
	tries   int                // that found nothing
	again   time.Time          // when to read once more; zero while it is being read
}

const (
	readPause = 200 * time.Millisecond
	readTries = 15
)

func newDeadLetters(out sender, p *payloads, w *writeQueue) *deadLetters {
	return &deadLetters{out: out, payloads: p, writes: w, waiting: map[string]*deadLetter{}}
}

// store reads the input of a dead task, and then writes the outcome of the task. The rules may ask
// again under another seal meanwhile: only the last request counts.
func (d *deadLetters) store(e tasks.WriteOutcome) {
	if l := d.waiting[e.ID]; l != nil && l.outcome.Revision == e.Revision {
		l.outcome = e
		return
	}
	d.waiting[e.ID] = &deadLetter{outcome: e}
	d.payloads.fetch(want{e.Revision, e.ID})
}

// replaced notes that the stream shows another record of the task.
func (d *deadLetters) replaced(task string, revision uint64) {
	if l := d.waiting[task]; l != nil && l.outcome.Revision < revision {
		delete(d.waiting, task)
	}
}

// inputFetched handles the input of a dead task.
func (d *deadLetters) inputFetched(x fetched) {
	l := d.waiting[x.task]
	if l == nil || l.outcome.Revision != x.revision {
		return
	}
	switch {
	case x.err == nil && x.entry.Key == record.QueueKey+x.task:
		delete(d.waiting, x.task)
		d.writes.outcome(l.outcome, d.inputOf(&x.entry))
		return
	case x.err == nil, errors.Is(x.err, natskv.ErrRecordNotFound):
		// Another record has replaced it, as the stream is about to show; or somebody has removed
		// it by hand.
		if l.tries++; l.tries == readTries {
			delete(d.waiting, x.task)
			d.writes.outcome(l.outcome, nil)
			return
		}
	}
	l.again = time.Now().Add(readPause)
}

// inputOf returns the input that a dead task keeps. It is nil if the input is larger than a
// submission may be: no client has submitted it.
func (d *deadLetters) inputOf(e *natskv.Entry) *record.Submitted {
	s := &record.Submitted{
		Task: record.First(e.Header[record.HeaderTask]), Keys: record.First(e.Header[record.HeaderKeys]),
		Meta: record.First(e.Header[record.HeaderMeta]), Data: e.Value,
	}
	if len(s.Meta) > 2*record.MaxMeta || len(s.Task) > 2*record.MaxPolicy || len(s.Keys) > record.MaxKeys ||
		len(s.Data) > d.out.MaxPayload()-record.Headroom {
		return nil
	}
	return s
}

// retryDue reads again every input that could not be read a while ago. It returns the time until it
// is due again.
func (d *deadLetters) retryDue(now time.Time) time.Duration {
	next := time.Hour
	for id, l := range d.waiting {
		switch {
		case l.again.IsZero():
		case l.again.After(now):
			next = min(next, l.again.Sub(now))
		default:
			l.again = time.Time{}
			d.payloads.fetch(want{l.outcome.Revision, id})
		}
	}
	return next
}

package scheduler

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// dying are the tasks whose outcome waits for their input: one that is dead keeps it, so that it can be submitted again.
// They are bounded by what the workers hold.
type dying map[string]*death // by task

type death struct {
	write tasks.WriteOutcome // the books' last wish
	tries int                // that found nothing
	again time.Time          // when to read once more, zero: it is being read
}

const (
	readPause = 200 * time.Millisecond
	readTries = 15
)

// die reads the input of a dead task, and then writes its outcome. The books may ask again under another seal meanwhile:
// only the last one counts.
func (l *scheduler) die(w tasks.WriteOutcome) {
	if d := l.dying[w.ID]; d != nil && d.write.Revision == w.Revision {
		d.write = w
		return
	}
	l.dying[w.ID] = &death{write: w}
	l.payloads.fetch(want{w.Revision, w.ID})
}

// buried takes the input of a task that has died.
func (l *scheduler) buried(x fetched) {
	d := l.dying[x.task]
	if d == nil || d.write.Revision != x.revision {
		return
	}
	switch {
	case x.err == nil && x.entry.Key == record.QueueKey+x.task:
		delete(l.dying, x.task)
		l.commits.outcome(d.write, l.inputOf(&x.entry))
		return
	case x.err == nil, errors.Is(x.err, natskv.ErrRecordNotFound):
		// Its place was taken, and the stream is about to say so; or somebody has removed it by hand.
		if d.tries++; d.tries == readTries {
			delete(l.dying, x.task)
			l.commits.outcome(d.write, nil)
			return
		}
	}
	d.again = time.Now().Add(readPause)
}

// inputOf is what a dead task keeps; nil when it is larger than a submission may be: it was none of a client's.
func (l *scheduler) inputOf(e *natskv.Entry) *record.Submitted {
	s := &record.Submitted{
		Task: record.First(e.Header[record.HeaderTask]), Keys: record.First(e.Header[record.HeaderKeys]), Meta: record.First(e.Header[record.HeaderMeta]), Data: e.Value,
	}
	if len(s.Meta) > 2*record.MaxMeta || len(s.Task) > 2*record.MaxPolicy || len(s.Keys) > record.MaxKeys || len(s.Data) > l.out.MaxPayload()-record.Headroom {
		return nil
	}
	return s
}

// readAgain reads what could not be read, after a while; it returns how long until something is due here.
func (l *scheduler) readAgain(now time.Time) time.Duration {
	next := time.Hour
	for id, d := range l.dying {
		switch {
		case d.again.IsZero():
		case d.again.After(now):
			next = min(next, d.again.Sub(now))
		default:
			d.again = time.Time{}
			l.payloads.fetch(want{d.write.Revision, id})
		}
	}
	return next
}

package scheduler

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// drafts holds the records that wait for a part of them that is in the stream. A dead task keeps
// its input, so that it can be submitted again. Its outcome tells about its earlier attempts, and
// so do its notes meanwhile: each continues the one before. The tasks that the workers hold bound
// the number of drafts.
type drafts struct {
	*term
	out      sender
	payloads *payloads
	bundles  *bundleReads
	writes   *writeQueue
	waiting  map[string]*draft // by task
	last     uint64            // number of the last draft
}

// draft is a note or an outcome, as the rules have asked for it last.
type draft struct {
	number   uint64
	note     *tasks.WriteNote
	outcome  *tasks.WriteOutcome
	revision uint64 // of the task's submission
	unread   bool   // the note before is to be read first
	history  string
	tries    int       // that found nothing
	again    time.Time // when to read once more; zero while it is being read
}

const (
	readPause = 200 * time.Millisecond
	readTries = 15
)

func newDrafts(t *term, out sender, p *payloads, b *bundleReads, w *writeQueue) *drafts {
	return &drafts{term: t, out: out, payloads: p, bundles: b, writes: w, waiting: map[string]*draft{}}
}

// outcome stores the end of a task. The rules may ask again under another seal while a draft waits:
// only the last request counts, of whatever kind it is.
func (d *drafts) outcome(e tasks.WriteOutcome) {
	if e.Outcome.Status != tasks.StatusDead {
		d.drop(e.ID)
		d.writes.outcome(e, nil)
		return
	}
	dead := e
	d.dead(&dead)
}

// dead begins the outcome of a dead task, which keeps its input.
func (d *drafts) dead(e *tasks.WriteOutcome) {
	if l := d.waiting[e.ID]; l != nil && l.outcome != nil && l.revision == e.Revision {
		l.outcome = e
		return
	}
	d.begin(e.ID, &draft{outcome: e, revision: e.Revision, unread: e.Noted})
}

// note stores the note of a task.
func (d *drafts) note(e tasks.WriteNote) {
	if !e.Noted {
		d.drop(e.ID)
		d.writes.note(e, record.AddFailure("", &e.Failed, time.Now()))
		return
	}
	d.begin(e.ID, &draft{note: &e, revision: e.Revision, unread: true})
}

func (d *drafts) begin(task string, l *draft) {
	d.last++
	l.number = d.last
	d.waiting[task] = l
	d.read(task, l)
}

func (d *drafts) read(task string, l *draft) {
	l.again = time.Time{}
	if l.unread || !d.rules.InBundle(task, l.revision) {
		d.payloads.fetch(want{revision: l.revision, task: task, draft: l.number, note: l.unread})
		return
	}
	if s, kept := d.bundles.find(task, l.revision); kept {
		d.finish(task, l, &s)
		return
	}
	d.bundles.fetch(l.revision)
}

// drop forgets a draft: something else was decided about its task.
func (d *drafts) drop(task string) { delete(d.waiting, task) }

// replaced notes that the stream shows another record of the task.
func (d *drafts) replaced(task string, revision uint64) {
	if l := d.waiting[task]; l != nil && l.revision < revision {
		d.drop(task)
	}
}

// fetched handles a record that a draft has waited for.
func (d *drafts) fetched(x fetched) {
	l := d.waiting[x.task]
	if l == nil || l.number != x.draft {
		return
	}
	if x.note {
		l.tries++
		d.noteRead(l, x)
		return
	}
	found := submissionsIn(&x.entry)
	d.inputRead(x.task, l, &found, x.err)
}

// bundleRead handles a bundle that several drafts may wait for, or why it was not read.
func (d *drafts) bundleRead(x *fetched, found *submissions) {
	for task, l := range d.waiting {
		if !l.unread && l.revision == x.revision {
			d.inputRead(task, l, found, x.err)
		}
	}
}

// noteRead handles the note before. A note from before the submission is of a task that had the id
// before.
func (d *drafts) noteRead(l *draft, x fetched) {
	switch {
	case x.err == nil && x.entry.Revision > l.revision:
		l.history = record.First(x.entry.Header[record.HeaderHistory])
	case x.err == nil, errors.Is(x.err, natskv.ErrRecordNotFound), l.tries >= readTries:
	default:
		l.again = time.Now().Add(readPause)
		return
	}
	l.unread, l.tries = false, 0
	if l.note != nil {
		d.drop(x.task)
		d.writes.note(*l.note, record.AddFailure(l.history, &l.note.Failed, time.Now()))
		return
	}
	d.read(x.task, l)
}

// inputRead handles the record with the input of a dead task.
func (d *drafts) inputRead(task string, l *draft, found *submissions, err error) {
	s, there := found.of(task)
	switch {
	case err == nil && there:
		d.finish(task, l, &s)
		return
	case err == nil, errors.Is(err, natskv.ErrRecordNotFound):
		// Another record has replaced it, as the stream is about to show; or somebody has removed
		// it by hand.
		if l.tries++; l.tries >= readTries {
			d.drop(task)
			d.writes.outcome(*l.outcome, nil)
			return
		}
	}
	l.again = time.Now().Add(readPause)
}

// finish stores the outcome of a dead task with its input.
func (d *drafts) finish(task string, l *draft, s *natskv.Entry) {
	d.drop(task)
	d.writes.outcome(*l.outcome, d.inputOf(s, l.history))
}

// inputOf returns the input that a dead task keeps. It is nil if the input is larger than a
// submission may be: no client has submitted it.
func (d *drafts) inputOf(e *natskv.Entry, history string) *record.Submitted {
	s := &record.Submitted{
		Task: record.First(e.Header[record.HeaderTask]), Keys: record.First(e.Header[record.HeaderKeys]),
		Meta: record.First(e.Header[record.HeaderMeta]), History: history, Data: e.Value,
		After: record.First(e.Header[record.HeaderAfter]),
	}
	if len(s.Meta) > 2*record.MaxMeta || len(s.Task) > 2*record.MaxPolicy || len(s.Keys) > record.MaxKeys ||
		len(s.After) > record.MaxAfter ||
		len(s.Data) > d.out.MaxPayload()-record.Headroom {
		return nil
	}
	return s
}

// retryDue reads again what could not be settled a while ago. It returns the time until that is due
// again.
func (d *drafts) retryDue(now time.Time) time.Duration { return readAgain(d.waiting, now, d.read) }

func (l *draft) due() time.Time { return l.again }

// rereadable is something whose record is read again when a reading has settled nothing.
type rereadable interface {
	due() time.Time // when to read once more; zero while it is being read or written
}

// readAgain reads again all that is due. It returns the time until more is: an hour at most.
func readAgain[R rereadable](all map[string]R, now time.Time, read func(id string, r R)) time.Duration {
	next := time.Hour
	for id, r := range all {
		switch at := r.due(); {
		case at.IsZero():
		case at.After(now):
			next = min(next, at.Sub(now))
		default:
			read(id, r)
		}
	}
	return next
}

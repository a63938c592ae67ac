package scheduler

import (
	"errors"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// tell tells the books what a record says.
func (l *scheduler) tell(e *natskv.Entry) {
	if e.Key == record.SealKey {
		l.tellSeal(e)
		return
	}
	family, name := e.Key[:min(2, len(e.Key))], e.Key[min(2, len(e.Key)):]
	gone := e.Marker || len(e.Value) == 0                       // but for tasks, whose input may be empty
	if family != record.DrainKey && !protocol.ValidName(name) { // nothing could be written there
		l.ignored(e, record.ErrRecord)
		return
	}
	switch family {
	case record.QueueKey:
		l.tellTask(e, name)
	case record.NoteKey:
		l.tellNote(e, name, gone)
	case record.CheckpointKey:
		// An empty checkpoint is one, and says whose it is.
		gone = gone && (e.Marker || len(e.Header[record.HeaderAttempt]) == 0)
		l.step(tasks.Saved{ID: name, Revision: e.Revision, Gone: gone})
	case record.CancelKey:
		if l.steered(e, gone) {
			l.step(tasks.CancelAsked{ID: name, Revision: e.Revision, Gone: gone})
		}
	case record.PauseKey:
		if l.steered(e, gone) {
			l.step(tasks.PauseSeen{Kind: name, Revision: e.Revision, Paused: !gone})
		}
	case record.DrainKey:
		if l.steered(e, gone) {
			l.step(tasks.DrainSeen{Instance: name, Revision: e.Revision, Draining: !gone})
		}
	case record.UniqueKey:
		l.tellUnique(e, name, gone)
	case record.RecurKey:
		l.tellRecurrence(e, name, gone)
	case record.TickKey:
		l.tellTick(e, name, gone)
	}
}

func (l *scheduler) tellSeal(e *natskv.Entry) {
	s, err := record.DecodeSeal(e.Value)
	if err != nil && record.LaterVersion(e.Value) { // never written over
		l.fenced = errors.Join(taskerr.ErrFenced, err)
		return
	}
	if err != nil { // no seal at all: whoever is the scheduler writes a new one
		l.ignored(e, err)
	}
	ours := s.Mark == l.mark
	if ours {
		l.sealed = e.Revision
	}
	l.step(tasks.SealSeen{
		Revision: e.Revision, Stored: e.Time, Epoch: s.Epoch, Ours: ours, Clean: s.Clean, Since: s.Since, Suspect: s.Suspect,
	})
}

func (l *scheduler) tellTask(e *natskv.Entry, id string) {
	if d := l.dying[id]; d != nil && d.write.Revision < e.Revision {
		delete(l.dying, id) // its place is taken
	}
	if len(e.Header[record.HeaderOutcome]) > 0 {
		l.payloads.drop(id)
		l.news.settled = tasks.Settled{ID: id, Revision: e.Revision}
		if !l.books.Ready() { // it matters to those who still run it
			l.news.settled.Status, l.news.settled.Attempt = record.EndedAs(e)
		}
		l.step(&l.news.settled)
		l.announcer.show(id)
		return
	}
	how, err := l.policies.of(record.First(e.Header[record.HeaderTask]))
	if err != nil && !e.Marker && record.LaterVersion([]byte(record.First(e.Header[record.HeaderTask]))) { // it is for who can read it
		l.ignored(e, err)
		l.step(tasks.Opaque{ID: id, Revision: e.Revision})
		return
	}
	if e.Marker {
		err = record.ErrRecord
	}
	var keys *tasks.Keys
	if err == nil {
		keys, err = record.ParseKeys(record.First(e.Header[record.HeaderKeys]))
	}
	if err != nil { // and what stood here before is gone
		l.ignored(e, err)
		l.step(tasks.Settled{ID: id, Revision: e.Revision})
		return
	}
	x := payloadOf(e)
	l.payloads.keep(id, e.Revision, x)
	l.news.submitted = tasks.Submitted{
		ID: id, Revision: e.Revision, Policy: how.policy, Times: how.times, Stored: e.Time, Size: len(e.Value), Keys: keys, Tag: record.PackTrace(x.trace),
	}
	l.step(&l.news.submitted)
}

func (l *scheduler) tellNote(e *natskv.Entry, id string, gone bool) {
	if gone {
		l.step(tasks.Noted{ID: id, Revision: e.Revision, Gone: true})
		return
	}
	r, err := record.DecodeNote(e.Value)
	if err != nil {
		l.ignored(e, err)
		return
	}
	l.step(tasks.Noted{ID: id, Revision: e.Revision, Stored: e.Time, Retry: r})
}

// steered reports whether a steerRecord can be read. What cannot is left as it is, and so is what stood before it.
func (l *scheduler) steered(e *natskv.Entry, gone bool) bool {
	if gone {
		return true
	}
	if _, err := record.DecodeSteer(e.Value); err != nil {
		l.ignored(e, err)
		return false
	}
	return true
}

func (l *scheduler) tellUnique(e *natskv.Entry, key string, gone bool) {
	var u record.Unique
	if !gone {
		var err error
		if u, err = record.DecodeUnique(e.Value); err != nil {
			l.ignored(e, err)
			return
		}
	}
	l.step(tasks.UniqueSeen{Key: key, Revision: e.Revision, Task: u.Task})
}

// tellRecurrence takes a definition. One that cannot be read fires nothing, and neither does what stood before it.
func (l *scheduler) tellRecurrence(e *natskv.Entry, name string, gone bool) {
	defined := tasks.Defined{Name: name, Revision: e.Revision, Since: e.Time}
	if !gone {
		var err error
		if defined.Recurrence, err = l.recurrence(name, e); err != nil {
			defined.Unreadable = true
			l.ignored(e, err)
		}
	}
	l.step(defined)
}

func (l *scheduler) tellTick(e *natskv.Entry, name string, gone bool) {
	fired := tasks.Fired{Name: name, Revision: e.Revision, Stored: e.Time}
	if !gone {
		var err error
		if fired.Tick, err = record.DecodeTick(e.Value); err != nil {
			l.ignored(e, err)
			return
		}
	}
	l.step(fired)
}

package assign

import (
	"encoding/json"
	"errors"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// tell tells the books what a record says.
func (l *scheduling) tell(e *natskv.Entry) {
	if e.Key == sealKey {
		l.tellSeal(e)
		return
	}
	family, name := e.Key[:min(2, len(e.Key))], e.Key[min(2, len(e.Key)):]
	gone := e.Marker || len(e.Value) == 0                // but for tasks, whose input may be empty
	if family != drainKey && !protocol.ValidName(name) { // nothing could be written there
		l.ignored(e, errRecord)
		return
	}
	switch family {
	case queueKey:
		l.tellTask(e, name)
	case noteKey:
		l.tellNote(e, name, gone)
	case checkpointKey:
		// An empty checkpoint is one, and says whose it is.
		gone = gone && (e.Marker || len(e.Header[headerAttempt]) == 0)
		l.step(tasks.Saved{ID: name, Revision: e.Revision, Gone: gone})
	case cancelKey:
		if l.steered(e, gone) {
			l.step(tasks.CancelAsked{ID: name, Revision: e.Revision, Gone: gone})
		}
	case pauseKey:
		if l.steered(e, gone) {
			l.step(tasks.PauseSeen{Kind: name, Revision: e.Revision, Paused: !gone})
		}
	case drainKey:
		if l.steered(e, gone) {
			l.step(tasks.DrainSeen{Instance: name, Revision: e.Revision, Draining: !gone})
		}
	case uniqueKey:
		l.tellUnique(e, name, gone)
	case recurKey:
		l.tellRecurrence(e, name, gone)
	case tickKey:
		l.tellTick(e, name, gone)
	}
}

func (l *scheduling) tellSeal(e *natskv.Entry) {
	s, err := decodeSeal(e.Value)
	if err != nil && laterVersion(e.Value) { // never written over
		l.fenced = errors.Join(ErrFenced, err)
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

// laterVersion reports whether a record says that it is of a version that this program does not know.
func laterVersion(data []byte) bool {
	var record struct {
		Version int `json:"v"`
	}
	return json.Unmarshal(data, &record) == nil && record.Version > 1
}

func (l *scheduling) tellTask(e *natskv.Entry, id string) {
	if d := l.dying[id]; d != nil && d.write.Revision < e.Revision {
		delete(l.dying, id) // its place is taken
	}
	if len(e.Header[headerOutcome]) > 0 {
		l.payloads.drop(id)
		l.news.settled = tasks.Settled{ID: id, Revision: e.Revision}
		if !l.books.Ready() { // it matters to those who still run it
			l.news.settled.Status, l.news.settled.Attempt = endedAs(e)
		}
		l.step(&l.news.settled)
		l.announcer.show(id)
		return
	}
	how, err := l.policies.of(first(e.Header[headerTask]))
	if err != nil && !e.Marker && laterVersion([]byte(first(e.Header[headerTask]))) { // it is for who can read it
		l.ignored(e, err)
		l.step(tasks.Opaque{ID: id, Revision: e.Revision})
		return
	}
	if e.Marker {
		err = errRecord
	}
	var keys *tasks.Keys
	if err == nil {
		keys, err = parseKeys(first(e.Header[headerKeys]))
	}
	if err != nil { // and what stood here before is gone
		l.ignored(e, err)
		l.step(tasks.Settled{ID: id, Revision: e.Revision})
		return
	}
	x := payloadOf(e)
	l.payloads.keep(id, e.Revision, x)
	l.news.submitted = tasks.Submitted{
		ID: id, Revision: e.Revision, Policy: how.policy, Times: how.times, Stored: e.Time, Size: len(e.Value), Keys: keys, Tag: packTrace(x.trace),
	}
	l.step(&l.news.submitted)
}

func (l *scheduling) tellNote(e *natskv.Entry, id string, gone bool) {
	if gone {
		l.step(tasks.Noted{ID: id, Revision: e.Revision, Gone: true})
		return
	}
	r, err := decodeNote(e.Value)
	if err != nil {
		l.ignored(e, err)
		return
	}
	l.step(tasks.Noted{ID: id, Revision: e.Revision, Stored: e.Time, Retry: r})
}

// steered reports whether a steerRecord can be read. What cannot is left as it is, and so is what stood before it.
func (l *scheduling) steered(e *natskv.Entry, gone bool) bool {
	if gone {
		return true
	}
	if _, err := decodeSteer(e.Value); err != nil {
		l.ignored(e, err)
		return false
	}
	return true
}

func (l *scheduling) tellUnique(e *natskv.Entry, key string, gone bool) {
	var u uniqueRecord
	if !gone {
		var err error
		if u, err = decodeUnique(e.Value); err != nil {
			l.ignored(e, err)
			return
		}
	}
	l.step(tasks.UniqueSeen{Key: key, Revision: e.Revision, Task: u.Task})
}

// tellRecurrence takes a definition. One that cannot be read fires nothing, and neither does what stood before it.
func (l *scheduling) tellRecurrence(e *natskv.Entry, name string, gone bool) {
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

func (l *scheduling) tellTick(e *natskv.Entry, name string, gone bool) {
	fired := tasks.Fired{Name: name, Revision: e.Revision, Stored: e.Time}
	if !gone {
		var err error
		if fired.Tick, err = decodeTick(e.Value); err != nil {
			l.ignored(e, err)
			return
		}
	}
	l.step(fired)
}

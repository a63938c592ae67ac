package scheduler

import (
	"fmt"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gaps"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
)

// applier gives the rules every record of the stream as an event.
type applier struct {
	*term
	loop
	fence     func(error) // ends the term, whatever else has gone wrong
	out       sender
	payloads  *payloads
	drafts    *drafts
	announcer *announcer
	declared  *declarations

	policies policies
	gaps     gaps.Reading
	sealed   uint64 // revision of the last seal of ours that the stream has shown

	// These come thousands of times a second. One event that is used again costs no memory.
	submitted tasks.Submitted
	settled   tasks.Settled
}

func newApplier(t *term, l loop, fence func(error), out sender, p *payloads, d *drafts, a *announcer,
	declared *declarations,
) *applier {
	return &applier{
		term: t, loop: l, fence: fence, out: out, payloads: p, drafts: d, announcer: a, declared: declared,
		policies: newPolicies(),
	}
}

// applyRecord gives the rules one record.
func (a *applier) applyRecord(e *natskv.Entry) {
	over := uint64(0)
	if a.gaps.Any() {
		over = e.WrittenOver()
	}
	a.gaps.Read(e.Revision, over)
	if e.Key == record.SealKey {
		a.applySeal(e)
		return
	}
	family, name := e.Key[:min(2, len(e.Key))], e.Key[min(2, len(e.Key)):]
	gone := e.Marker || len(e.Value) == 0                 // except for tasks, whose input may be empty
	if family != record.DrainKey && !naming.Valid(name) { // nothing could be written there
		a.ignored(e, record.ErrRecord)
		return
	}
	switch family {
	case record.QueueKey:
		a.applyTask(e, name)
	case record.BundleKey:
		a.applyBundle(e, name, gone)
	case record.EndedKey:
		if !gone {
			a.applyEnded(e, name)
		}
	case record.NoteKey:
		a.applyNote(e, name, gone)
	case record.CheckpointKey:
		// An empty checkpoint is a checkpoint if it names its attempt.
		gone = gone && (e.Marker || len(e.Header[record.HeaderAttempt]) == 0)
		a.step(tasks.Saved{ID: name, Revision: e.Revision, Gone: gone})
	case record.CancelKey:
		if a.readableSteer(e, gone) {
			a.step(tasks.CancelAsked{ID: name, Revision: e.Revision, Gone: gone})
		}
	case record.PauseKey:
		if a.readableSteer(e, gone) {
			a.step(tasks.PauseSeen{Kind: name, Revision: e.Revision, Paused: !gone})
		}
	case record.LimitsKey:
		a.applyLimits(e, name, gone)
	case record.DrainKey:
		if a.readableSteer(e, gone) {
			a.step(tasks.DrainSeen{Instance: name, Revision: e.Revision, Draining: !gone})
		}
	case record.UniqueKey:
		a.applyUnique(e, name, gone)
	case record.RecurKey:
		a.applyRecurrence(e, name, gone)
	case record.TickKey:
		a.applyTick(e, name, gone)
	case record.TallyKey:
		if !gone {
			a.applyTally(e, name)
		}
	}
}

func (a *applier) applySeal(e *natskv.Entry) {
	s, err := record.DecodeSeal(e.Value)
	if err != nil && record.LaterVersion(e.Value) { // never written over
		a.fenceFor(e, err)
		return
	}
	if err != nil { // not a seal at all: the present scheduler writes a new one
		a.ignored(e, err)
	}
	ours, missed := s.Mark == a.mark, uint64(0)
	if ours {
		a.sealed, missed = e.Revision, a.gaps.Seal()
	}
	a.step(tasks.SealSeen{
		Revision: e.Revision, Stored: e.Time, Epoch: s.Epoch, Ours: ours, Clean: s.Clean, Since: s.Since, Doubted: s.Doubted,
		Missed: missed,
	})
}

func (a *applier) applyTask(e *natskv.Entry, id string) {
	a.drafts.replaced(id, e.Revision)
	if len(e.Header[record.HeaderOutcome]) > 0 {
		a.payloads.drop(id)
		a.settled = tasks.Settled{ID: id, Revision: e.Revision}
		_, a.settled.Kept = record.Stays(e.Header)
		if a.settled.Kept || !a.rules.Ready() || strings.HasPrefix(id, groups.Prefix) {
			// it matters to tasks that wait for it, to its group, and to workers that still run the task
			a.settled.Status, a.settled.Attempt = record.EndedAs(e)
			a.settled.Of = record.SubmissionOf(e.Header)
			keys, err := record.ParseKeys(record.First(e.Header[record.HeaderKeys]))
			a.settled.Keyed = err == nil && keys != nil && keys.Unique != ""
		}
		a.step(&a.settled)
		a.announcer.shown(id)
		return
	}
	if e.Marker { // a client has deleted a task that has ended, or has reserved the place of one
		if _, open := a.rules.TaskInfo(a.now(), id); open {
			a.ignored(e, record.ErrRecord)
		}
		a.step(tasks.Reserved{ID: id, Revision: e.Revision})
		return
	}
	a.applySubmission(id, e, &record.Member{
		Task: record.First(e.Header[record.HeaderTask]), Keys: record.First(e.Header[record.HeaderKeys]),
		Meta: record.First(e.Header[record.HeaderMeta]), Trace: record.First(e.Header[record.HeaderTrace]), Data: e.Value,
	})
}

// applySubmission handles a submission that stands in the record e, alone or with others.
func (a *applier) applySubmission(id string, e *natskv.Entry, m *record.Member) {
	how, err := a.policies.of(m.Task)
	if err != nil && record.LaterVersion([]byte(m.Task)) { // a later scheduler can read it
		a.ignored(e, err)
		a.step(tasks.Opaque{ID: id, Revision: e.Revision})
		return
	}
	var keys *tasks.Keys
	var after *groups.After
	if err == nil && how.waits {
		after, err = waitsFor(e)
	}
	if err == nil {
		keys, err = record.ParseKeys(m.Keys)
	}
	if err != nil { // and the record that it replaced is gone
		a.ignored(e, err)
		a.step(tasks.Settled{ID: id, Revision: e.Revision})
		return
	}
	a.payloads.keep(id, e.Revision, payload{Data: m.Data, Trace: m.Trace, Meta: m.Meta})
	a.submitted = tasks.Submitted{
		ID: id, Revision: e.Revision, Policy: how.policy, Times: how.times, Stored: e.Time, Size: len(m.Data), Keys: keys,
		Tag: record.PackTrace(m.Trace), After: after,
	}
	a.step(&a.submitted)
}

// waitsFor is what a submission waits for.
func waitsFor(e *natskv.Entry) (*groups.After, error) {
	after, err := record.ParseAfter(record.First(e.Header[record.HeaderAfter]))
	if err != nil {
		return nil, err
	}
	return after.Rules(), nil
}

func (a *applier) applyNote(e *natskv.Entry, id string, gone bool) {
	if gone {
		a.step(tasks.Noted{ID: id, Revision: e.Revision, Gone: true})
		return
	}
	r, err := record.DecodeNote(e.Value)
	if err != nil {
		a.ignored(e, err)
		return
	}
	a.step(tasks.Noted{ID: id, Revision: e.Revision, Stored: e.Time, Retry: r})
}

// readableSteer reports whether the record of a command can be read. One that cannot be read
// changes nothing: the command before it stays in force.
func (a *applier) readableSteer(e *natskv.Entry, gone bool) bool {
	if gone {
		return true
	}
	if _, err := record.DecodeSteer(e.Value); err != nil {
		a.ignored(e, err)
		return false
	}
	return true
}

// applyLimits handles the record of a kind's limits. One that cannot be read changes nothing: the
// limits before it stay in force.
func (a *applier) applyLimits(e *natskv.Entry, kind string, gone bool) {
	if gone {
		a.declared.shown(kind, limitsRecord{revision: e.Revision})
		a.step(tasks.LimitsSeen{Kind: kind, Revision: e.Revision, Gone: true})
		return
	}
	k, err := record.DecodeKindLimits(e.Value)
	a.declared.shown(kind, limitsRecord{k, e.Revision, err})
	if err != nil {
		a.ignored(e, err)
		return
	}
	a.step(k.Seen(kind, e.Revision, e.Time))
}

func (a *applier) applyUnique(e *natskv.Entry, key string, gone bool) {
	var u record.Unique
	if !gone {
		var err error
		if u, err = record.DecodeUnique(e.Value); err != nil {
			a.ignored(e, err)
			return
		}
	}
	a.step(tasks.UniqueSeen{Key: key, Revision: e.Revision, Task: u.Task, At: u.At})
}

// applyRecurrence handles a definition. One that cannot be read fires nothing, and neither does the
// one that it replaced.
func (a *applier) applyRecurrence(e *natskv.Entry, name string, gone bool) {
	defined := tasks.Defined{Name: name, Revision: e.Revision, Since: e.Time}
	if !gone {
		var err error
		if defined.Recurrence, defined.Since, err = a.policies.recurrence(name, e, a.out.MaxPayload()); err != nil {
			defined.Unreadable = true
			a.ignored(e, err)
		}
	}
	a.step(defined)
}

func (a *applier) applyTick(e *natskv.Entry, name string, gone bool) {
	fired := tasks.Fired{Name: name, Revision: e.Revision, Stored: e.Time}
	if !gone {
		t, err := record.DecodeTick(e.Value)
		if err != nil {
			a.ignored(e, err)
			return
		}
		fired.Tick, fired.Last = t.Tick, t.Last
	}
	a.step(fired)
}

// applyTally handles the record of a group.
func (a *applier) applyTally(e *natskv.Entry, completion string) {
	t, err := record.DecodeTally(e.Value)
	if err != nil {
		a.ignored(e, err)
		return
	}
	a.step(tasks.Tallied{ID: completion, Of: t.Of, Stored: e.Time, Closed: t.Closed, Fates: t.Fates})
}

// fenceFor ends the term for a record that only a later scheduler can read, and that nobody may act
// without.
func (a *applier) fenceFor(e *natskv.Entry, err error) {
	a.fence(fmt.Errorf("%w, or has to: %s is of a later version: %w", taskerr.ErrFenced, e.Key, err))
}

// ignored reports a record that this scheduler cannot read. The record is left in the stream.
func (a *applier) ignored(e *natskv.Entry, err error) {
	a.emit(event.RecordIgnored{Meta: a.host.Meta(), Key: record.Stored(a.stream.Name()) + e.Key, Reason: err.Error()})
}

package tasks

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gaps"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// reading is what a scheduler knows of its own reading, if that comes to one record at a time.
type reading struct {
	first int           // how much of the feed was there when it began and is still to come
	gaps  *gaps.Reading // what it has left out
}

// readOn has a reading come to the next record that still stands. Those before it were replaced,
// and leave gaps.
func (x *Model) readOn(w *World, k int) error {
	l := *w.leaders[k]
	var r *streamEntry
	for r == nil && len(l.feed) > 0 && (l.caughtUp || l.reading.first > 0) {
		if next := l.feed[0]; next.Kind != replaced {
			r = next
		}
		l.feed = l.feed[1:]
		l.reading.first = max(l.reading.first-1, 0)
	}
	l.feed = slices.Clone(l.feed)
	begun := !l.caughtUp && l.reading.first == 0
	l.caughtUp = l.caughtUp || begun
	missed := uint64(0)
	if r != nil {
		l.reading.gaps = snapshot.Clone(x.cloner, l.reading.gaps)
		if l.reading.gaps.Read(r.Sequence, r.Over); r.Kind == seal && int(r.By) == k+1 {
			missed = l.reading.gaps.Seal()
		}
	}
	w.leaders[k] = x.keepLeader(k, &l)
	if r != nil {
		if err := x.tell(w, k, r.event(k, missed)); err != nil {
			return err
		}
	}
	if begun {
		return x.tell(w, k, tasks.CaughtUp{})
	}
	return nil
}

// ahead reports whether the outcome of a task stands where a reading has still to come.
func (x *Model) ahead(w *World, t int) bool {
	r := w.ledger.newest("q." + taskID(t))
	return x.cfg.Piecemeal && r.Kind == outcome && slices.ContainsFunc(w.leaders[:w.terms], func(l *leader) bool {
		return l.s != nil && l.unread(r) >= 0
	})
}

// unread is where in the feed of a leader a record is, -1 if it is not there.
func (l *leader) unread(r *streamEntry) int {
	return slices.IndexFunc(l.feed, func(o *streamEntry) bool { return r != nil && o.Sequence == r.Sequence })
}

// rewrite writes the outcome of a task again, as a deposed scheduler may do, or a client.
func (x *Model) rewrite(w *World, t int) {
	l := w.ledger.copied()
	r := *l.newest("q." + taskID(t))
	r.Over = r.Sequence
	x.publish(w, l, &r)
}

// publish stores a record, and has it shown to all that read.
func (x *Model) publish(w *World, l *history, record *streamEntry) *streamEntry {
	former := l.newest(record.Subject)
	r := l.put(*record)
	w.ledger = x.keepLedger(l)
	for k, old := range w.leaders[:w.terms] {
		if old.s == nil {
			continue
		}
		c := *old
		c.feed = slices.Clone(old.feed)
		if i := old.unread(former); i >= 0 && x.cfg.Piecemeal {
			c.feed[i] = &streamEntry{Subject: former.Subject, Sequence: former.Sequence, Kind: replaced}
		} else if i >= 0 { // what was overwritten is not read any more
			c.feed = slices.Delete(c.feed, i, i+1)
		}
		c.feed = append(c.feed, r)
		w.leaders[k] = x.keepLeader(k, &c)
	}
	return r
}

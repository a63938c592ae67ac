package reach

import (
	"maps"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Config fixes the intervals.
type Config struct {
	First, Most time.Duration // between two questions, doubled each time
	Tell        time.Duration // an instance that is lost for so long is told of, and again after ever longer
}

// Book are the instances that messages do not reach, or did not until a moment ago.
type Book struct {
	cfg  Config
	list map[string]*absence
}

type absence struct {
	session uint64 // the latest one that is known
	lost    bool
	pause   time.Duration
	ask     record.Instant
	tell    record.Instant
	told    int
	toldOf  uint64 // the session that was told of last
}

const (
	maxEntries = 1024             // beyond it those are forgotten that nobody has asked for keep
	keep       = 10 * time.Minute // much longer than an instance takes to open its next session
	maxTold    = 6                // doublings of Tell
)

// NewBook returns an empty book.
func NewBook(cfg Config) *Book { return &Book{cfg: cfg, list: map[string]*absence{}} }

// Lose notes that a session of an instance was not reached.
func (b *Book) Lose(now record.Instant, instance string, session uint64) {
	e := b.list[instance]
	if e == nil {
		if len(b.list) >= maxEntries {
			maps.DeleteFunc(b.list, func(_ string, e *absence) bool { return !e.lost || e.ask.Add(keep) < now })
		}
		e = &absence{pause: b.cfg.First}
		b.list[instance] = e
	}
	if e.session = max(e.session, session); !e.lost {
		e.lost, e.told, e.tell, e.ask = true, 0, now.Add(b.cfg.Tell), now.Add(e.pause)
	}
}

// Open notes a new session of an instance. It reports whether the instance is lost: then the
// session is asked at once.
func (b *Book) Open(now record.Instant, instance string, session uint64) bool {
	e := b.list[instance]
	if e == nil || !e.lost {
		return false
	}
	if session > e.session {
		e.session, e.ask, e.tell = session, now, max(e.tell, now.Add(b.cfg.Tell))
	}
	return true
}

// Find notes that a session has answered. Took says that it was a frame of tasks. About a later
// session of the instance that says nothing.
func (b *Book) Find(instance string, session uint64, took bool) {
	e := b.list[instance]
	if e == nil || e.session != session {
		return
	}
	if e.lost = false; took {
		delete(b.list, instance)
	}
}

// Ask reports whether a session is to be asked now, once in each interval.
func (b *Book) Ask(now record.Instant, instance string, session uint64) bool {
	e := b.list[instance]
	if e == nil || !e.lost || e.session != session || e.ask > now {
		return false
	}
	e.ask, e.pause = now.Add(e.pause), min(2*e.pause, b.cfg.Most)
	return true
}

// Tell reports whether a session is to be told of now, and how often it was before.
func (b *Book) Tell(now record.Instant, instance string, session uint64) (times int, is bool) {
	e := b.list[instance]
	if e == nil || !e.lost || e.session != session || e.tell > now {
		return 0, false
	}
	e.tell = now.Add(b.cfg.Tell << min(e.told, maxTold))
	e.told, e.toldOf = e.told+1, session
	return e.told, true
}

// Told reports whether a session is lost, and was told of. A worker that has just crashed was not:
// its session ends before that.
func (b *Book) Told(instance string, session uint64) bool {
	e := b.list[instance]
	return e != nil && e.lost && e.toldOf == session
}

// Due is when a session is to be asked or told of next.
func (b *Book) Due(instance string, session uint64) record.Instant {
	e := b.list[instance]
	if e == nil || !e.lost || e.session != session {
		return record.Never
	}
	return min(e.ask, e.tell)
}

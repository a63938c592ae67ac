package tasks

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// World is one state. It is never changed, nor is a part of it: a move makes other parts.
type World struct {
	terms   int
	leaders [maxLeaders]*leader
	members [maxWorkers]*member
	ledger  *history
	net     *net
	spent   [Faults]uint8
}

// leader is one term: the real scheduler and what its driver knows.
type leader struct {
	part snapshot.Part

	s        *tasks.Scheduler // nil: the term is over
	now      record.Instant
	host     int
	epoch    uint64
	tick     bool           // something has come since the last Tick
	feed     []*streamEntry // what the stream has for it
	lags     bool           // its reading stands still
	caughtUp bool
	reading  reading
	knows    int      // how much of the bucket's log it was told
	asked    []uint64 // writes without an answer
}

// member is one process: a session, a view, and the real worker.
type member struct {
	part snapshot.Part

	session  uint64          // 0: none
	last     uint64          // the one before it, not known to be dead, 0: none
	w        *workers.Worker // nil without a session
	term     int             // the newest from which it has heard, from 0
	cut      bool
	draining bool
	seen     int  // how much of the bucket's log its view has
	lags     bool // its view stands still
	runs     [maxTasks]liveHandler
	results  [maxTasks]handlerResult
}

// liveHandler is a live handler.
type liveHandler struct {
	attempt tasks.Attempt
	live    bool
	halted  bool
}

// handlerResult is what a handler has returned and nobody has settled.
type handlerResult struct {
	attempt tasks.Attempt
	verb    tasks.Verb
}

// history is what is stored: the bucket's log, the stream, and what was seen of every task.
type history struct {
	part    snapshot.Part
	log     []fact
	stream  []*streamEntry // in the order of their sequences, the newest of each subject
	next    uint64         // sequence
	largest [maxTasks]tasks.Attempt
	ended   [maxTasks]tasks.Verb // how that one has ended, 0: it has not
}

// fact is one entry of the bucket.
type fact struct {
	kind     factKind
	who      int
	session  uint64
	revision uint64
}

type factKind uint8

const (
	leaseFact factKind = iota
	memberFact
	roleFact
	deathFact
)

// streamEntry is one entry of the stream.
type streamEntry struct {
	Subject  string
	Sequence uint64
	Kind     recordKind
	Epoch    uint64 // of a seal
	By       uint8  // whose seal it is: that leader's, from 1
	Outcome  tasks.Outcome
	Retry    tasks.Retry
	Over     uint64 // the record of its own subject that it was written over, 0 if its condition names none
}

type recordKind uint8

const (
	submission recordKind = iota + 1
	outcome
	note
	erased
	seal
	replaced // only in a feed: a later record has taken its place
)

// net is what is on its way.
type net struct {
	part snapshot.Part
	list []*message
}

// message is a frame, an answer, or a write and its answer. It is never changed.
type message struct {
	kind    messageKind
	leader  uint8 // from whom or for whom
	member  uint8
	late    bool   // arrives at any later moment
	epoch   uint64 // of a frame
	session uint64
	frame   uint64
	write   uint64
	push    *tasks.Assign
	stop    *tasks.Stop
	held    []tasks.Held
	answers []tasks.Answer
	task    uint8
	attempt tasks.Attempt
	verb    tasks.Verb
	record  *streamEntry // to be written
	on      string
	expect  uint64
	result  record.Outcome
}

type messageKind uint8

const (
	pushes messageKind = iota
	stops
	syncs
	answers // to a push
	stopped
	synced
	reports
	settles
	writes
	outcomes // of a write
)

var messageNames = [...]string{
	"push", "stop", "sync", "answer", "stopped", "synced", "report", "settled", "write",
	"outcome of a write",
}

// view is what a member knows of the bucket.
type view struct {
	epoch   uint64 // of the leader, 0: nobody
	highest uint64
	open    bool // its own member record is there
}

func (m *member) view(l *history) (v view) {
	holder := uint64(0)
	for _, f := range l.log[:m.seen] {
		switch f.kind {
		case memberFact:
			v.open = v.open || f.session == m.session
		case roleFact:
			v.epoch, v.highest, holder = f.revision, f.revision, f.session
		case deathFact:
			if f.session == holder {
				v.epoch = 0
			}
		}
	}
	return v
}

// holder is who has the role, and whether that session is dead.
func (l *history) holder() (f fact, dead bool) {
	for _, x := range l.log {
		switch {
		case x.kind == roleFact:
			f, dead = x, false
			for _, y := range l.log {
				dead = dead || y.kind == deathFact && y.session == x.session
			}
		}
	}
	return f, dead
}

func (l *history) newest(subject string) *streamEntry {
	for _, r := range l.stream {
		if r.Subject == subject {
			return r
		}
	}
	return nil
}

func (l *history) sequence(subject string) uint64 {
	if r := l.newest(subject); r != nil {
		return r.Sequence
	}
	return 0
}

func (l *history) copied() *history {
	c := *l
	c.log, c.stream = slices.Clone(l.log), slices.Clone(l.stream)
	return &c
}

// add writes a fact.
func (l *history) add(kind factKind, who int, session uint64) uint64 {
	revision := uint64(firstRevision + len(l.log))
	if kind == leaseFact {
		session = revision
	}
	l.log = append(l.log, fact{kind, who, session, revision})
	return revision
}

// put stores a record.
func (l *history) put(r streamEntry) *streamEntry {
	r.Sequence = l.next
	l.next++
	l.stream = slices.DeleteFunc(l.stream, func(o *streamEntry) bool { return o.Subject == r.Subject })
	l.stream = append(l.stream, &r)
	return &r
}

package tasks

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gaps"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/workers"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// Model is a configuration that can be searched.
type Model struct {
	cfg     *Config
	cloner  *snapshot.Cloner
	looker  *snapshot.Looker
	walk    snapshot.Walk
	renamer snapshot.Renamer
	parts   *snapshot.Table[snapshot.Sum, any]
}

// room is how many parts are remembered, twice.
const room = 1 << 18

// New returns the model of a configuration.
func New(c *Config) *Model {
	rules := newRules()
	return &Model{
		cfg: c, cloner: snapshot.NewCloner(rules), looker: snapshot.NewLooker(rules),
		parts: snapshot.NewTable[snapshot.Sum, any](room),
	}
}

// Start returns the world in which all members are there, all tasks are submitted, and the first of
// them has just won the role.
func (x *Model) Start() ([]World, *search.Violation) {
	l := &history{next: firstSequence}
	w := World{net: x.keepNet(&net{})}
	for i := range w.members {
		session := l.add(leaseFact, i, 0)
		l.add(memberFact, i, session)
		w.members[i] = &member{session: session, w: newWorker(x.cfg)}
	}
	for t := range x.cfg.Tasks {
		l.put(streamEntry{Subject: "q." + taskID(t), Kind: submission})
	}
	w.ledger = x.keepLedger(l)
	for i, m := range w.members {
		m.seen = len(l.log)
		w.members[i] = x.keepMember(i, m)
	}
	x.appoint(&w, 0)
	return []World{w}, nil
}

func newWorker(c *Config) *workers.Worker {
	return workers.New(workers.Config{Slots: c.Slots, Kinds: []string{policy.Kind}, MaxOutbox: 8})
}

// appoint gives the role to a member.
func (x *Model) appoint(w *World, i int) {
	l := w.ledger.copied()
	epoch := l.add(roleFact, i, w.members[i].session)
	w.ledger = x.keepLedger(l)
	for k, old := range w.leaders[:w.terms] {
		if old.host == i {
			x.retire(w, k)
		}
	}
	w.leaders[w.terms] = x.keepLeader(w.terms, &leader{
		host: i, epoch: epoch, now: record.Instant(time.Hour), feed: l.stream, tick: true,
		reading: reading{len(l.stream), &gaps.Reading{}},
		s: tasks.NewScheduler(tasks.SchedulerConfig{
			Epoch: epoch, CrashBudget: 100, AnswerTime: unit, WriteTime: unit, Rand: func() float64 { return 0.5 },
		}),
	})
	w.terms++
}

// Fingerprint puts the fingerprints of the parts together.
func (x *Model) Fingerprint(w World) uint64 {
	all := make([]*snapshot.Part, 0, 2+maxLeaders+maxWorkers)
	all = append(all, &w.ledger.part, &w.net.part)
	for _, l := range w.leaders[:w.terms] {
		all = append(all, &l.part)
	}
	for _, m := range w.members {
		all = append(all, &m.part)
	}
	sum := x.renamer.Fingerprint(all, []uint8{0, 1, 2, 3})
	for _, s := range w.spent {
		sum.Word(uint64(s))
	}
	return sum.A ^ sum.B
}

func keep[T any](x *Model, sort int, part *snapshot.Part, to *T) *T {
	*part = x.walk.Part()
	key := part.Exact()
	key.Word(uint64(sort))
	if known, ok := x.parts.Get(key); ok {
		return known.(*T)
	}
	x.parts.Put(key, to)
	return to
}

// look begins to look at a part. Its numbers of writes, frames and assignments are those of a term,
// from 0: each counts for itself.
func (x *Model) look(term int, now record.Instant) *snapshot.Walk {
	x.walk.Begin(uint8(term), int64(now))
	return &x.walk
}

func (x *Model) revision(n uint64) {
	if n == 0 {
		x.walk.Word(0)
		return
	}
	x.walk.Name(snapshot.Name{Class: snapshot.Revision, Value: n - firstRevision})
}

func (x *Model) keepLeader(k int, l *leader) *leader {
	w := x.look(k, l.now)
	w.Flag(l.s != nil)
	w.Word(uint64(l.host))
	x.revision(l.epoch)
	if l.s != nil {
		snapshot.Look(x.looker, w, l.s)
		w.Flag(l.tick)
		w.Flag(l.lags)
		w.Flag(l.caughtUp)
		w.Word(uint64(l.knows))
		w.Word(uint64(len(l.feed)))
		if x.cfg.Piecemeal {
			w.Word(uint64(l.reading.first))
			snapshot.Look(x.looker, w, l.reading.gaps)
		}
		for _, r := range l.feed {
			snapshot.Look(x.looker, w, r)
		}
		for _, n := range l.asked {
			w.Name(snapshot.Name{Class: snapshot.Write, Owner: w.Owner, Value: n})
		}
	}
	return keep(x, 10+k, &l.part, l)
}

func (x *Model) keepMember(i int, m *member) *member {
	w := x.look(m.term, 0)
	x.revision(m.session)
	x.revision(m.last)
	w.Word(uint64(m.seen))
	w.Flag(m.cut)
	w.Flag(m.lags)
	w.Flag(m.draining)
	if m.w != nil {
		snapshot.Look(x.looker, w, m.w)
		for t := range x.cfg.Tasks {
			w.Flag(m.runs[t].live)
			w.Flag(m.runs[t].halted)
			snapshot.Look(x.looker, w, &m.runs[t].attempt)
			w.Word(uint64(m.results[t].verb))
			snapshot.Look(x.looker, w, &m.results[t].attempt)
		}
	}
	return keep(x, 20+i, &m.part, m)
}

func (x *Model) keepLedger(l *history) *history {
	w := x.look(0, 0) // no numbers of any term
	for _, f := range l.log {
		w.Word(uint64(f.kind)<<8 | uint64(f.who))
		x.revision(f.session)
		x.revision(f.revision)
	}
	for _, r := range l.stream {
		snapshot.Look(x.looker, w, r)
	}
	for t := range x.cfg.Tasks {
		snapshot.Look(x.looker, w, &l.largest[t])
		w.Word(uint64(l.ended[t]))
	}
	return keep(x, 1, &l.part, l)
}

func (x *Model) keepNet(n *net) *net {
	w := x.look(0, 0)
	for _, m := range n.list {
		w.Owner = m.leader
		snapshot.Look(x.looker, w, m)
	}
	return keep(x, 2, &n.part, n)
}

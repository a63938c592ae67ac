package protocol

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// lossy is a bucket that can lose what it has acknowledged, with the machines that use it. Time
// passes in hundredths of seconds; writes are answered in the next one, and shown at once to a
// process that watches, as long as the replica that serves the watches keeps up.
type lossy struct {
	t     *testing.T
	last  uint64
	keys  map[string]stored
	nodes []*lossyNode
	now   record.Instant
	reset WatchReset // what is said about the store when a watch is made, but for revisions and times
	lags  bool
}

type stored struct {
	revision uint64
	value    []byte
	marker   bool
}

// lossyNode is one machine, and what it waits for.
type lossyNode struct {
	s       *lossy
	m       *Machine
	ids     int
	away    bool
	watches bool
	wants   bool // a new watch
	writes  []Write
	loses   func(Write) bool // which writes never come to the store, nil for none
	lost    []Write          // those
	ended   int              // terms
	fault   error
}

const lossyStep = 10 * time.Millisecond

func newLossy(t *testing.T, reset WatchReset) *lossy {
	return &lossy{t: t, last: 1000, keys: map[string]stored{}, now: 1e12, reset: reset}
}

func (s *lossy) join(name string, rotation time.Duration, roles ...string) *lossyNode {
	n := &lossyNode{s: s, wants: true}
	n.m = New(Config{
		Instance: name, Key: "k", TTL: 6 * time.Second, Heartbeat: time.Second, OpTimeout: time.Second, Margin: time.Second,
		Grace: 20 * time.Second,
		Delta: 10 * time.Millisecond, Drain: 5 * time.Second, CoolDown: 10 * time.Second, MaxTTL: 2 * time.Minute,
		IdleFactor: 3, Rotation: rotation,
		NewID: func() string { n.ids++; return fmt.Sprint(name, n.ids) }, Rand: func() float64 { return 0.5 },
	})
	s.nodes = append(s.nodes, n)
	for _, role := range roles {
		n.step(Join{RoleConfig{Name: role}})
	}
	return n
}

func (n *lossyNode) step(ev Event) {
	if n.fault != nil {
		return
	}
	for _, e := range n.m.Step(record.Now{Holder: n.s.now, Observer: n.s.now}, ev, nil) {
		switch e := e.(type) {
		case Write:
			n.writes = append(n.writes, e)
		case RebuildWatch:
			n.wants = true
		case EndTerm:
			n.ended++
			n.step(Drained{e.Role, e.Term})
		case Ended:
			n.fault = e.Fault
		}
	}
}

// leads reports whether a machine believes that it leads a role.
func (n *lossyNode) leads(role string) bool {
	return n.fault == nil && n.m.Status(role).Leading && n.m.trusted()
}

func (s *lossy) commit(key string, value []byte, marker bool) uint64 {
	s.last++
	s.keys[key] = stored{s.last, value, marker}
	for _, n := range s.nodes {
		if n.watches && !n.away && !s.lags {
			n.deliver(key)
		}
	}
	return s.last
}

func (n *lossyNode) deliver(key string) {
	x := n.s.keys[key]
	if e := record.Decode(key, x.value, x.revision, x.marker, n.m.cfg.MaxTTL); e.Kind != record.KindOther {
		n.step(Delivered{&e})
	}
}

// others write keys that nobody looks at.
func (s *lossy) others(n int) {
	for i := range n {
		s.commit(fmt.Sprint("other.", i), nil, false)
	}
}

// vacancy writes that a role is free. A claim over it is known by its acknowledgement.
func (s *lossy) vacancy(role string) {
	s.commit(record.RoleKey(role), record.Encode(record.Role{V: record.Version, TTLms: 6000, Vacant: true}), false)
}

// someMember writes what every watch shows, and nobody is concerned with.
func (s *lossy) someMember() (key string) {
	key = record.MemberKey(record.Peer{Class: record.Candidate, Instance: "nobody"})
	s.commit(key, nil, true)
	return key
}

// watch makes a new watch: it delivers what stands there in the order of revisions.
func (n *lossyNode) watch() {
	s := n.s
	n.wants, n.watches = false, true
	r := s.reset
	r.Known, r.Begun, r.Last = n.m.View().Last(), s.now, s.last
	n.step(r)
	for _, key := range slices.SortedFunc(maps.Keys(s.keys),
		func(a, b string) int { return cmp.Compare(s.keys[a].revision, s.keys[b].revision) }) {
		n.deliver(key)
	}
	n.step(SnapshotDone{})
}

func (n *lossyNode) answer(w Write) {
	s := n.s
	key, expect := w.Key, w.Expect
	if w.GuardKey != "" {
		key, expect = w.GuardKey, w.GuardRevision
	}
	if s.keys[key].revision != expect {
		n.step(Written{ID: w.ID, Outcome: record.Refused})
		return
	}
	n.step(Written{ID: w.ID, Outcome: record.Won, Revision: s.commit(w.Key, w.Value, w.Delete)})
}

// leave cuts a machine off; what it writes is not answered, until it comes back.
func (n *lossyNode) leave() {
	n.away, n.watches = true, false
	n.step(Connection{})
}

func (n *lossyNode) comeBack() {
	writes := n.writes
	n.away, n.wants, n.writes = false, true, nil
	for _, w := range writes {
		n.step(Written{ID: w.ID, Outcome: record.Unknown})
	}
	n.step(Connection{Up: true})
}

// tick lets a moment pass. A process that is away gets no answers.
func (s *lossy) tick() {
	s.now = s.now.Add(lossyStep)
	for _, n := range s.nodes {
		if n.away || n.fault != nil {
			n.step(Tick{})
			continue
		}
		if n.wants {
			n.watch()
		}
		writes := n.writes
		n.writes = nil
		for _, w := range writes {
			if n.loses != nil && n.loses(w) {
				n.lost = append(n.lost, w)
				n.step(Written{ID: w.ID, Outcome: record.Unknown})
				continue
			}
			n.answer(w)
		}
		n.step(Tick{})
	}
}

// pass lets time pass, and says for how long of it that held.
func (s *lossy) pass(d time.Duration, holds func() bool) (held time.Duration) {
	for end := s.now.Add(d); s.now < end; s.tick() {
		if holds != nil && holds() {
			held += lossyStep
		}
	}
	return held
}

// until lets time pass until something holds.
func (s *lossy) until(what string, holds func() bool) {
	s.t.Helper()
	for end := s.now.Add(time.Minute); !holds(); s.tick() {
		if s.now >= end {
			s.t.Fatalf("not within a minute: %s", what)
		}
	}
}

// beat waits until a machine has just beaten.
func (s *lossy) beat(name string) {
	s.t.Helper()
	before := s.keys["c.lease."+name].revision
	s.until("a beat of "+name, func() bool { return s.keys["c.lease."+name].revision != before })
}

// back puts the bucket back to what it was.
func (s *lossy) back(keys map[string]stored, last uint64) { s.keys, s.last = keys, last }

func (s *lossy) copied() (map[string]stored, uint64) { return maps.Clone(s.keys), s.last }

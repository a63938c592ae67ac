package electionsim

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// store is the one model among the tests: a bucket with compare-and-swap by key, one sequence of
// revisions, markers, and a history of one. It keeps its whole past, from which replicas that lag
// are read.
type store struct {
	log  []*commit
	keys map[string][]*commit // every write of a key, oldest first
	lost []*commit            // what is not there any more, though it was acknowledged
	all  []string             // the keys in the order of their first write
	// restored says that the store is not the one that was there before: its revisions begin again.
	// single is what it says about itself.
	restored, single bool

	adoption
	first uint64 // its revisions begin with this one
	// claims of roles that were removed, and vacancies that were written again
	reclaimed, kept int
	// roles that were removed when they were given up, and those given up for a dead session
	unwanted, abandoned int
	fromBackup          bool // an operator has restored it
	deleted             bool // it is gone since then, and keeps its past for those who look at it
	gone                time.Duration
	epochs              map[string]uint64 // the last one granted of each role
}

type commit struct {
	entry   record.Entry
	key     string
	at      time.Duration
	ttl     time.Duration // when it expires, 0 for never
	marker  bool
	by      *process // who wrote it, in which life; nil for an operator
	life    int
	removed bool // a marker that has expired in its turn
	lost    bool // it does not stand any more, though it was acknowledged
}

const firstRevision = 1000

func newStore() *store {
	return &store{keys: map[string][]*commit{}, first: firstRevision, epochs: map[string]uint64{}}
}

// next is the revision that the next write gets.
func (s *store) next() uint64 { return s.first + uint64(len(s.log)) }

// at is what was written at a revision, nil for nothing.
func (s *store) at(revision uint64) *commit {
	if revision < s.first || revision >= s.next() {
		return nil
	}
	return s.log[revision-s.first]
}

// last is the revision a write to key must expect.
func (s *store) last(key string) uint64 {
	if c := s.newest(key); c != nil {
		return c.entry.Revision
	}
	return 0
}

// newest is what stands at key, nil for nothing.
func (s *store) newest(key string) *commit {
	past := s.keys[key]
	if s.deleted || len(past) == 0 || past[len(past)-1].removed {
		return nil
	}
	return past[len(past)-1]
}

// put writes without a condition; nil means that there is no bucket.
func (s *store) put(now time.Duration, key string, value []byte, marker bool) *commit {
	if s.deleted {
		return nil
	}
	rev := s.next()
	c := &commit{key: key, at: now, marker: marker, entry: record.Decode(key, value, rev, marker, MaxTTL)}
	s.log = append(s.log, c)
	if len(s.keys[key]) == 0 {
		s.all = append(s.all, key)
	}
	s.keys[key] = append(s.keys[key], c)
	return c
}

// skip lets the next write have a revision that is so much higher, as a purge does: nothing stands
// at those between, and no watch shows them.
func (s *store) skip(now time.Duration, revisions uint64) {
	c := &commit{key: "none", at: now, marker: true, removed: true}
	c.entry = record.Decode(c.key, nil, s.next(), true, MaxTTL)
	s.log = append(s.log, slices.Repeat([]*commit{c}, int(revisions))...)
	s.keys[c.key] = append(s.keys[c.key], c)
}

// write carries out a conditional write; nil means refused.
func (s *store) write(now time.Duration, w protocol.Write) *commit {
	key, expect := w.Key, w.Expect
	if w.GuardKey != "" {
		key, expect = w.GuardKey, w.GuardRevision
	}
	if s.last(key) != expect {
		return nil
	}
	past := s.newest(w.Key)
	c := s.put(now, w.Key, w.Value, w.Delete)
	if c != nil {
		s.note(past, c)
		c.ttl = w.TTL
		if c.entry.Kind == record.KindRole { // a day is too long to be waited for
			c.ttl = min(c.ttl, time.Duration(10+c.entry.Revision%20)*time.Second)
		}
	}
	return c
}

// snapshot is what a replica that has applied everything up to rev shows, in the order of the
// revisions.
func (s *store) snapshot(rev uint64) []*commit {
	var out []*commit
	for _, key := range s.all {
		past := s.keys[key]
		i := len(past) - 1
		for i >= 0 && past[i].entry.Revision > rev {
			i--
		}
		if i >= 0 && !past[i].removed {
			out = append(out, past[i])
		}
	}
	slices.SortFunc(out, func(a, b *commit) int { return int(a.entry.Revision) - int(b.entry.Revision) })
	return out
}

// sweep removes the markers that have stood for their time, and returns the markers that replace
// the records which have.
func (s *store) sweep(now time.Duration) (expired []*commit) {
	for _, key := range s.all {
		switch c := s.newest(key); {
		case c == nil:
		case c.marker && now-c.at > cmp.Or(c.ttl, 2*MaxTTL+time.Second):
			c.removed = true
		case !c.marker && c.ttl > 0 && now-c.at > c.ttl:
			expired = append(expired, s.put(now, key, nil, true))
		}
	}
	return expired
}

func (c *commit) String() string {
	return fmt.Sprintf("%s@%d %s", c.key, c.entry.Revision, show(&c.entry))
}

package elections

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// storeState is what stands in the store: one value per key, one sequence of revisions,
// compare-and-swap by key. It is never changed: a write makes another one.
type storeState struct {
	part     snapshot.Part
	last     uint64 // revision
	standing []*wonWrite
	granted  [maxRoles]uint64 // the last epoch at which somebody has begun to lead
	before   *storeState      // the one before the last write, for a replica that lags
}

// wonWrite is one write that has won.
type wonWrite struct {
	key   string
	entry record.Entry
}

// event is the entry for a machine, which may not keep it.
func (c *wonWrite) event() *record.Entry {
	e := c.entry
	return &e
}

// watched reports whether a watch of member i shows the key.
func (c *wonWrite) watched(i int, width protocol.Widen) bool {
	return c.entry.Kind != record.KindOther &&
		(width.All || c.entry.Kind != record.KindIdle || width.OwnIdle && c.entry.Peer == peer(i))
}

// letter is a conditional write on its way.
type letter struct {
	id   protocol.WriteID
	key  string
	on   string // the key whose revision is the condition
	at   uint64 // that revision
	data record.Entry
}

func (x *Model) letter(w protocol.Write) *letter {
	l := &letter{id: w.ID, key: w.Key, on: w.Key, at: w.Expect, data: x.decode(w.Key, string(w.Value), w.Delete)}
	if w.GuardKey != "" {
		l.on, l.at = w.GuardKey, w.GuardRevision
	}
	return l
}

func (x *Model) lookLetter(l *letter) {
	x.lookKey(l.key)
	if l.on != l.key {
		x.lookKey(l.on)
	}
	x.lookRevision(l.at)
	snapshot.Look(x.looker, &x.walk, &l.data)
}

func (x *Model) lookRevision(rev uint64) {
	if rev == 0 {
		x.walk.Word(0)
		return
	}
	x.walk.Name(snapshot.Name{Class: snapshot.Revision, Value: rev - firstRevision})
}

// lookKey adds a key, whose last part may be the name of a member.
func (x *Model) lookKey(key string) {
	n := len(key) - 2
	if name, ok := nameIn(key[n:]); ok {
		x.walk.Sum.Text(key[:n])
		x.walk.Name(name)
		return
	}
	x.walk.Sum.Text(key)
}

// decode reads a record as a watch does; the same bytes are read once.
func (x *Model) decode(key, value string, marker bool) record.Entry {
	at := [2]string{key, value}
	if e, ok := x.decoded.Get(at); ok && !marker {
		return e
	}
	e := record.Decode(key, []byte(value), 0, marker, time.Duration(x.cfg.MaxTTL)*unit)
	if !marker {
		x.decoded.Put(at, e)
	}
	return e
}

func (b *storeState) newest(key string) *wonWrite {
	for _, c := range b.standing {
		if c.key == key {
			return c
		}
	}
	return nil
}

func (b *storeState) revision(key string) uint64 {
	if c := b.newest(key); c != nil {
		return c.entry.Revision
	}
	return 0
}

// put writes without a condition.
func (x *Model) put(b *storeState, key string, e record.Entry) (*storeState, *wonWrite) {
	e.Revision = b.last + 1
	c := x.keepCommit(&wonWrite{key, e})
	next := &storeState{last: e.Revision, granted: b.granted}
	next.standing = make([]*wonWrite, 0, len(b.standing)+1)
	next.standing = append(next.standing, b.standing...)
	next.standing = slices.DeleteFunc(next.standing, func(o *wonWrite) bool { return o.key == key })
	next.standing = append(next.standing, c) // so they stand in the order of their revisions
	if x.cfg.most(LagWatch) > 0 {
		former := *b
		former.before = nil
		next.before = x.keepBucket(&former)
	}
	return x.keepBucket(next), c
}

// keepCommit returns the one commit that is like c.
func (x *Model) keepCommit(c *wonWrite) *wonWrite {
	x.walk.Begin(0, 0)
	snapshot.Look(x.looker, &x.walk, &c.entry)
	part := x.walk.Part()
	key := part.Exact()
	if known, ok := x.commits.Get(key); ok {
		return known
	}
	x.commits.Put(key, c)
	return c
}

// write carries out a conditional write; a nil commit means refused.
func (x *Model) write(b *storeState, l *letter) (*storeState, *wonWrite) {
	if b.revision(l.on) != l.at {
		return b, nil
	}
	return x.put(b, l.key, l.data)
}

// keepBucket looks at a bucket, and returns the one like it that is known already, if there is one.
func (x *Model) keepBucket(b *storeState) *storeState {
	w := &x.walk
	w.Begin(0, 0)
	for _, c := range b.standing { // the last of them tells the last revision
		snapshot.Look(x.looker, w, &c.entry)
	}
	for _, epoch := range b.granted[:x.cfg.Roles] {
		x.lookRevision(epoch)
	}
	if b.before != nil {
		w.Word(uint64(len(b.before.standing)))
		for _, c := range b.before.standing {
			snapshot.Look(x.looker, w, &c.entry)
		}
	}
	b.part = w.Part()
	key := b.part.Exact()
	if known, ok := x.buckets.Get(key); ok {
		return known
	}
	x.buckets.Put(key, b)
	return b
}

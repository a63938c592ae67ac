package scheduler

import (
	"container/list"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// applyBundle handles several submissions that stand in one record.
func (a *applier) applyBundle(e *natskv.Entry, name string, gone bool) {
	if gone {
		a.step(tasks.BundleGone{Name: name, Revision: e.Revision})
		return
	}
	members, err := record.DecodeBundle(name, e.Header, e.Value)
	if err != nil && record.LaterVersion([]byte(record.First(e.Header[record.HeaderBundle]))) { // of unknown tasks
		a.fenceFor(e, err)
		return
	}
	if err != nil {
		a.ignored(e, err)
		return
	}
	indexes := make([]uint16, len(members))
	for i := range members {
		indexes[i] = members[i].Index
	}
	a.step(tasks.Bundled{Name: name, Revision: e.Revision, Indexes: indexes})
	block, _, _ := bundles.Split(name)
	for i := range members {
		a.applySubmission(bundles.ID(block, int(indexes[i])), e, &members[i])
	}
}

// applyEnded handles the record beside a bundle.
func (a *applier) applyEnded(e *natskv.Entry, name string) {
	r, err := record.DecodeEnded(e.Value)
	if err != nil && record.LaterVersion(e.Value) { // its members would run again
		a.fenceFor(e, err)
		return
	}
	if err != nil {
		a.ignored(e, err)
		return
	}
	a.step(tasks.MembersEnded{Name: name, Of: r.Of, Ended: r.Places})
}

// bundleRecords are the records to be stored in one step with the outcomes of members of a bundle.
func bundleRecords(r bundles.Record) []natskv.Write {
	if r.Whole {
		// its client may send it again, and is refused for as long as a success is kept
		ops := []natskv.Write{{Key: record.BundleKey + r.Name, TTL: max(r.Stays, record.BundleRetention)}}
		if r.Told {
			ops = append(ops, emptied(record.EndedKey+r.Name))
		}
		return ops
	}
	value, err := record.EncodeEnded(record.Ended{Of: r.Of, Places: r.Ended})
	if err != nil {
		return nil // numbers and bytes can always be encoded
	}
	return []natskv.Write{{Key: record.EndedKey + r.Name, Value: value}}
}

// mostBundleRecords is how many there are of one bundle at most.
const mostBundleRecords = 2

// submissions are those that stand in one record: one alone, or those of a bundle.
type submissions struct {
	entry   *natskv.Entry
	block   string // of a bundle
	members []record.Member
}

// submissionsIn reads a record. One that cannot be read has no submissions.
func submissionsIn(e *natskv.Entry) submissions {
	x := submissions{entry: e}
	if name, within := strings.CutPrefix(e.Key, record.BundleKey); within {
		x.block, _, _ = bundles.Split(name)
		x.members, _ = record.DecodeBundle(name, e.Header, e.Value)
	}
	return x
}

// of is the submission of a task as if it stood there alone; false if it is not among them.
func (x *submissions) of(id string) (natskv.Entry, bool) {
	if x.entry.Key == record.QueueKey+id {
		return *x.entry, true
	}
	block, index, ok := bundles.Split(id)
	if !ok || block != x.block {
		return natskv.Entry{}, false
	}
	place, ok := record.MemberOf(x.members, index)
	if !ok {
		return natskv.Entry{}, false
	}
	return x.members[place].Alone(id, x.entry), true
}

// bundleReads reads bundles, for frames and for the outcomes of dead tasks. Of a bundle only all
// members can be read. So one reading serves all that want the bundle meanwhile, and the bundles
// that were used last are kept. A bundle never changes while it stands.
type bundleReads struct {
	payloads *payloads
	reading  map[uint64]bool          // revisions
	kept     map[uint64]*list.Element // by revision
	order    *list.List               // of *submissions, the one that was used last in front
	size     int                      // of those, in bytes
}

// bundleRoom bounds what is kept, in bytes. It has room for some fifty of the largest bundles.
const bundleRoom = 32 << 20

func newBundleReads(p *payloads) *bundleReads {
	return &bundleReads{
		payloads: p, reading: map[uint64]bool{}, kept: map[uint64]*list.Element{}, order: list.New(),
	}
}

// find is the submission of a member, if its bundle is kept.
func (b *bundleReads) find(id string, revision uint64) (natskv.Entry, bool) {
	at := b.kept[revision]
	if at == nil {
		return natskv.Entry{}, false
	}
	b.order.MoveToFront(at)
	return at.Value.(*submissions).of(id)
}

// fetch has a bundle read, unless it is being read.
func (b *bundleReads) fetch(revision uint64) {
	if !b.reading[revision] {
		b.reading[revision] = true
		b.payloads.fetch(want{revision: revision})
	}
}

// fetched takes a record that was read for frames, or as a bundle. It reports whether fetch has
// asked for it: others need not be looked for among the dead tasks.
func (b *bundleReads) fetched(x *fetched) (found *submissions, asked bool) {
	asked = b.reading[x.revision]
	delete(b.reading, x.revision)
	s := submissionsIn(&x.entry)
	b.keep(&s)
	return &s, asked
}

func (b *bundleReads) keep(x *submissions) {
	if x.members == nil || b.kept[x.entry.Revision] != nil {
		return
	}
	b.kept[x.entry.Revision] = b.order.PushFront(x)
	for b.size += x.size(); b.size > bundleRoom; {
		last := b.order.Remove(b.order.Back()).(*submissions)
		delete(b.kept, last.entry.Revision)
		b.size -= last.size()
	}
}

// size bounds the memory of a bundle, in bytes. Its data are kept as they are, and its texts are
// copies.
func (x *submissions) size() int {
	const member = 128
	return 2*len(x.entry.Value) + member*len(x.members)
}

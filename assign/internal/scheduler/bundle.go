package scheduler

import (
	"slices"
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

// lastBundles are the bundles that were read last: tasks are handed out in the order of their
// submissions, mostly, so those of one bundle follow each other. A bundle never changes while it
// stands.
type lastBundles []submissions

const keptBundles = 8

func (l *lastBundles) keep(x *submissions) {
	if x.members == nil {
		return
	}
	if *l = append(*l, *x); len(*l) > keptBundles {
		*l = slices.Delete(*l, 0, 1)
	}
}

// input is the input of a member of one of them.
func (l lastBundles) input(id string, revision uint64) (payload, bool) {
	for i := range l {
		if l[i].entry.Revision != revision {
			continue
		}
		if e, ok := l[i].of(id); ok {
			return payloadOf(&e), true
		}
	}
	return payload{}, false
}

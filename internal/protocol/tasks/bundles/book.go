package bundles

import (
	"slices"
	"time"
)

// Book is the bundles that stand, as one scheduler knows them. It holds two bytes for each member.
type Book struct {
	at   map[uint64]*bundle // by revision
	name map[string]uint64  // their revisions
}

type bundle struct {
	name    string
	block   string
	indexes []uint16 // of its members, ascending
	ended   Set      // by their places in indexes
	told    bool     // there is a record of those that have ended
	stays   time.Duration
}

// Member is a task of a bundle.
type Member struct {
	Revision uint64 // of the bundle
	Place    int    // in it
}

// Record is what is stored of a bundle in one step with outcomes of its members.
type Record struct {
	Name  string
	Of    uint64 // the revision of the bundle
	Ended Set
	Whole bool // all have ended: the bundle is removed
	Told  bool // there is a record of those that had ended before
	// Stays is how long it is to be known that the bundle was there: as long as the success of one of
	// its members is kept.
	Stays time.Duration
}

// NewBook returns an empty book.
func NewBook() *Book { return &Book{at: map[uint64]*bundle{}, name: map[string]uint64{}} }

// Len is how many bundles are on the book.
func (b *Book) Len() int { return len(b.at) }

// Stands takes down a bundle that the stream has shown, and the indexes of its members, ascending.
func (b *Book) Stands(name string, revision uint64, indexes []uint16) {
	if b.name[name] >= revision {
		return
	}
	delete(b.at, b.name[name])
	block, _, _ := Split(name)
	b.name[name] = revision
	b.at[revision] = &bundle{name: name, block: block, indexes: indexes, ended: NewSet(len(indexes))}
}

// Of says which member of which bundle the submission of a task at a revision is; false: of none
// that stands.
func (b *Book) Of(id string, revision uint64) (Member, bool) {
	x := b.at[revision]
	if x == nil {
		return Member{}, false
	}
	block, index, ok := Split(id)
	if !ok || block != x.block {
		return Member{}, false
	}
	place, ok := slices.BinarySearch(x.indexes, uint16(index))
	return Member{revision, place}, ok
}

// Kept takes down for how long the success of a member would be kept.
func (b *Book) Kept(m Member, retention time.Duration) {
	if x := b.at[m.Revision]; x != nil {
		x.stays = max(x.stays, retention)
	}
}

// Ended takes down that the outcome of a member is stored.
func (b *Book) Ended(m Member) {
	x := b.at[m.Revision]
	if x == nil {
		return
	}
	x.told = true
	if x.ended.Add(m.Place); x.whole() {
		b.drop(m.Revision)
	}
}

// Told takes down the record of those that have ended of a bundle that stood at a revision. It
// returns the ids of those of which that is new.
func (b *Book) Told(name string, of uint64, ended Set) (ids []string) {
	x := b.at[of]
	if x == nil || x.name != name {
		return nil
	}
	x.told = true
	for place := range x.indexes {
		if ended.Has(place) && x.ended.Add(place) {
			ids = append(ids, ID(x.block, int(x.indexes[place])))
		}
	}
	if x.whole() {
		b.drop(of)
	}
	return ids
}

// Gone takes down that a bundle was removed before a revision. It returns the revision at which it
// stood, and the ids of those members that were not known to have ended.
func (b *Book) Gone(name string, before uint64) (revision uint64, ids []string) {
	revision = b.name[name]
	x := b.at[revision]
	if x == nil || revision >= before {
		return 0, nil
	}
	for place, index := range x.indexes {
		if !x.ended.Has(place) {
			ids = append(ids, ID(x.block, int(index)))
		}
	}
	b.drop(revision)
	return revision, ids
}

// With is what is to be stored in one step with the outcomes of these members.
func (b *Book) With(members []Member) (records []Record) {
	at := map[uint64]int{}
	for _, m := range members {
		x := b.at[m.Revision]
		if x == nil {
			continue
		}
		i, known := at[m.Revision]
		if !known {
			i = len(records)
			at[m.Revision] = i
			records = append(records, Record{
				Name: x.name, Of: m.Revision, Ended: slices.Clone(x.ended), Told: x.told, Stays: x.stays,
			})
		}
		r := &records[i]
		r.Ended.Add(m.Place)
		r.Whole = r.Ended.Len() == len(x.indexes)
	}
	return records
}

func (x *bundle) whole() bool { return x.ended.Len() == len(x.indexes) }

func (b *Book) drop(revision uint64) {
	delete(b.name, b.at[revision].name)
	delete(b.at, revision)
}

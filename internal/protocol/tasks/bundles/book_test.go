package bundles

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// binder is what is stored of bundles, and what has been told of their members by a Book.
type binder struct {
	book *Book
	list []*kept
	told map[string]int // how often, by id
}

// kept is a bundle as it is stored.
type kept struct {
	name     string
	revision uint64
	indexes  []uint16
	ended    Set
}

func (b *kept) id(place int) string {
	block, _, _ := Split(b.name)
	return ID(block, int(b.indexes[place]))
}

func newBinder(t *rapid.T) *binder {
	s := &binder{book: NewBook(), told: map[string]int{}}
	for i := range rapid.IntRange(1, 4).Draw(t, "bundles") {
		indexes := rapid.SliceOfNDistinct(rapid.Uint16Range(0, Most-1), 1, 20, rapid.ID).Draw(t, "indexes")
		slices.Sort(indexes)
		s.list = append(s.list, &kept{
			name: ID(fmt.Sprint("c.", i), int(indexes[0])), revision: uint64(10 * (i + 1)), indexes: indexes,
			ended: NewSet(len(indexes)),
		})
	}
	return s
}

func (s *binder) tell(ids ...string) {
	for _, id := range ids {
		s.told[id]++
	}
}

// TestBookTellsEachEndOnce: members end by hand of this scheduler or of another one, and records
// come in any order, late, or more than once. Each member is told once, and a bundle is on the book
// as long as it may have an open member.
func TestBookTellsEachEndOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newBinder(t)
		for _, b := range s.list {
			s.book.Stands(b.name, b.revision, b.indexes)
		}
		if s.book.Len() != len(s.list) {
			t.Fatalf("%d bundles of %d", s.book.Len(), len(s.list))
		}
		known := func(b *kept) (n int) {
			for place := range b.indexes {
				n += min(s.told[b.id(place)], 1)
			}
			return n
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			b := rapid.SampledFrom(s.list).Draw(t, "bundle")
			place := rapid.IntRange(0, len(b.indexes)-1).Draw(t, "place")
			on := known(b) < len(b.indexes)
			m, ok := s.book.Of(b.id(place), b.revision)
			if ok != on || ok && (m != Member{b.revision, place}) {
				t.Fatalf("%s of %s: %+v, %t", b.id(place), b.name, m, ok)
			}
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0: // this scheduler ends a member, which is open as far as it knows
				if on && s.told[b.id(place)] == 0 {
					b.ended.Add(place)
					s.book.Ended(m)
					s.tell(b.id(place))
				}
			case 1: // another one ends a member
				b.ended.Add(place)
			case 2: // the record of those that have ended is shown, perhaps an earlier one
				record := slices.Clone(b.ended)
				for i := range record {
					record[i] &= byte(rapid.Uint8().Draw(t, "mask"))
				}
				s.tell(s.book.Told(b.name, b.revision, record)...)
			case 3: // that of another bundle, or of none
				if ids := s.book.Told(b.name, b.revision+1, b.ended); ids != nil {
					t.Fatalf("of another revision: %v", ids)
				}
				if ids := s.book.Told(b.name+"x", b.revision, b.ended); ids != nil {
					t.Fatalf("of another name: %v", ids)
				}
			case 4: // the bundle is removed
				for i := range b.indexes {
					b.ended.Add(i)
				}
				revision, ids := s.book.Gone(b.name, b.revision+1)
				if (revision == b.revision) != on || !on && ids != nil {
					t.Fatalf("%d, %v", revision, ids)
				}
				s.tell(ids...)
			case 5: // a removal from before it stood
				if revision, ids := s.book.Gone(b.name, b.revision); revision != 0 || ids != nil {
					t.Fatalf("%d, %v", revision, ids)
				}
			}
			left := 0
			for _, b := range s.list {
				if n := known(b); n < len(b.indexes) {
					left++
				} else if _, is := s.book.Of(b.name, b.revision); is {
					t.Fatalf("%s has ended, and is on the book", b.name)
				}
			}
			if s.book.Len() != left {
				t.Fatalf("%d bundles, want %d", s.book.Len(), left)
			}
		}
		for id, n := range s.told {
			if n != 1 {
				t.Fatalf("%s is told %d times", id, n)
			}
		}
	})
}

// TestWhatIsStoredWithOutcomes: of each bundle the members that were known to have ended, and those
// that end now. The book itself does not change before they are stored.
func TestWhatIsStoredWithOutcomes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newBinder(t)
		for _, b := range s.list {
			s.book.Stands(b.name, b.revision, b.indexes)
		}
		end := func(label string) (members []Member) {
			for _, b := range s.list {
				for place := range b.indexes {
					if !b.ended.Has(place) && rapid.Bool().Draw(t, label) {
						members = append(members, Member{b.revision, place})
					}
				}
			}
			return rapid.Permutation(members).Draw(t, "order")
		}
		open, told := len(s.list), map[string]bool{}
		for range 3 {
			members := end("ends")
			want := map[string]Set{}
			for _, b := range s.list {
				for _, m := range members {
					if m.Revision == b.revision {
						if want[b.name] == nil {
							want[b.name] = slices.Clone(b.ended)
						}
						want[b.name].Add(m.Place)
					}
				}
			}
			records := s.book.With(append(members, Member{7, 0})) // one that is of no bundle
			for _, r := range records {
				i := slices.IndexFunc(s.list, func(b *kept) bool { return b.name == r.Name })
				b := s.list[i]
				if !slices.Equal(r.Ended, want[r.Name]) || r.Of != b.revision ||
					r.Whole != (r.Ended.Len() == len(b.indexes)) || r.Told != told[r.Name] {
					t.Fatalf("%+v, want %v", r, want[r.Name])
				}
				delete(want, r.Name)
			}
			if len(want) > 0 {
				t.Fatalf("not stored: %v", want)
			}
			for _, m := range members {
				i := slices.IndexFunc(s.list, func(b *kept) bool { return b.revision == m.Revision })
				if r := s.book.With([]Member{m}); len(r) != 1 || r[0].Ended.Len() != s.list[i].ended.Len()+1 {
					t.Fatalf("the book knows before it is stored: %+v", r)
				}
			}
			for _, m := range members {
				for _, b := range s.list {
					if m.Revision == b.revision {
						b.ended.Add(m.Place)
						told[b.name] = true
						if b.ended.Len() == len(b.indexes) {
							open--
						}
					}
				}
				s.book.Ended(m)
			}
			if s.book.Len() != open {
				t.Fatalf("%d bundles, want %d", s.book.Len(), open)
			}
		}
	})
}

// TestABundleThatStandsAgain takes the place of the one before, and an earlier one takes none.
func TestABundleThatStandsAgain(t *testing.T) {
	b := NewBook()
	b.Stands("c.0.0", 5, []uint16{0, 1})
	b.Stands("c.0.0", 9, []uint16{0, 3})
	b.Stands("c.0.0", 7, []uint16{0, 4})
	if _, is := b.Of("c.0.1", 5); is || b.Len() != 1 {
		t.Errorf("%d bundles", b.Len())
	}
	for id, want := range map[string]bool{
		"c.0.0": true, "c.0.3": true, "c.0.1": false, "c.1.3": false, "c.0.x": false, "c": false,
	} {
		if _, is := b.Of(id, 9); is != want {
			t.Errorf("%s: %t", id, is)
		}
	}
	if revision, ids := b.Gone("c.0.0", 10); revision != 9 || !slices.Equal(ids, []string{"c.0.0", "c.0.3"}) ||
		b.Len() != 0 {
		t.Errorf("%d, %v", revision, ids)
	}
	if revision, ids := b.Gone("c.0.0", 11); revision != 0 || ids != nil {
		t.Errorf("%d, %v", revision, ids)
	}
}

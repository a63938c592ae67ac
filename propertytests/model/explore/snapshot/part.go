package snapshot

import "slices"

// Part is what is known of one part of a state: the fingerprint of its shape, and the names that it
// mentions, in the order of their first mention. Two parts with the same of both, and nothing that
// tells them apart, are the same.
type Part struct {
	Sum   Sum
	Names []Name

	apart Sum
}

// Part ends a walk.
func (w *Walk) Part() Part { return Part{w.Sum, slices.Clone(w.Names), w.Apart} }

// Begin makes a walk ready for another part.
func (w *Walk) Begin(owner uint8, now int64) {
	w.Sum, w.Apart, w.Names, w.seen, w.Owner, w.Now = Sum{}, Sum{}, w.Names[:0], w.seen[:0], owner, now
}

// Exact is a fingerprint in which the names count as they are, and what tells parts apart.
func (p *Part) Exact() Sum {
	s := p.Sum
	s.Word(p.apart.A)
	s.Word(p.apart.B)
	for _, n := range p.Names {
		s.Word(n.key())
	}
	return s
}

// key orders names by class, owner and value.
func (n Name) key() uint64 { return uint64(n.Class)<<60 | uint64(n.Owner)<<56 | n.Value }

// Renamer makes one fingerprint of many parts in which names count by their order, or by their
// first mention in all the parts together. So two states that differ in nothing but how often
// somebody's heart has beaten are one.
type Renamer struct {
	ordered []uint64
	first   []int // in ordered, by class and owner
	ids     []uint64
}

// Fingerprint looks at the parts in this order; place is where each process has come to stand.
func (r *Renamer) Fingerprint(parts []*Part, place []uint8) Sum {
	r.ordered, r.ids = r.ordered[:0], r.ids[:0]
	for _, p := range parts {
		for _, n := range p.Names {
			if n.Class.ordered() {
				r.ordered = append(r.ordered, n.key())
			}
		}
	}
	slices.Sort(r.ordered)
	r.ordered = slices.Compact(r.ordered)
	if r.first == nil {
		r.first = make([]int, 1<<8)
	}
	last := -1
	for i, key := range r.ordered {
		if block := int(key >> 56); block != last {
			r.first[block], last = i, block
		}
	}
	var s Sum
	for _, p := range parts {
		s.Word(p.Sum.A)
		s.Word(p.Sum.B)
		for _, n := range p.Names {
			s.Word(r.number(n, place))
		}
	}
	return s
}

func (r *Renamer) number(n Name, place []uint8) uint64 {
	switch {
	case n.Class == Member:
		return uint64(Member)<<60 | uint64(place[n.Value])
	case n.Class == ID:
		i := slices.Index(r.ids, n.Value)
		if i < 0 {
			i = len(r.ids)
			r.ids = append(r.ids, n.Value)
		}
		return uint64(ID)<<60 | uint64(i)
	}
	key := n.key()
	i, _ := slices.BinarySearch(r.ordered, key)
	owner := uint64(0)
	if n.Class.owned() {
		owner = uint64(place[n.Owner])
	}
	return uint64(n.Class)<<60 | owner<<56 | uint64(i-r.first[key>>56])
}

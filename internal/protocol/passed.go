package protocol

import (
	"cmp"
	"slices"
)

// unshown is a term whose record the present watch has not delivered, as far as was known when it was put down.
type unshown struct {
	epoch uint64
	role  *RoleView
}

// A watch delivers what stands in the bucket in the order of revisions. So when it has come to a later one than an epoch, and has
// delivered neither the record of that epoch nor a later one in its place, that record does not stand: the role is another's, or the
// store has lost it, whatever was acknowledged. Its term is over. This takes no clock and nobody's word; and no replica that lags can
// make it so, since it has not come to a later revision.
//
// A rotation of ours whose outcome is open may stand in the place of the record, and come later in a snapshot. (Stored while that is
// being delivered it comes behind it; the record is missing then, see EndSnapshot, and the term ends though nobody has taken it.)

// expect has the record of a term looked for when the watch comes to a later revision.
func (m *Machine) expect(epoch uint64, rv *RoleView) {
	i, _ := slices.BinarySearchFunc(m.unshown, epoch, func(u unshown, epoch uint64) int { return cmp.Compare(u.epoch, epoch) })
	m.unshown = slices.Insert(m.unshown, i, unshown{epoch, rv})
}

// expectAll does that for all terms: the watch is a new one, or its snapshot has arrived whole.
func (m *Machine) expectAll() {
	m.unshown = m.unshown[:0]
	for _, r := range m.active.list {
		if r.term.leading() {
			m.unshown = append(m.unshown, unshown{r.term.epoch, r.RoleView})
		}
	}
	slices.SortFunc(m.unshown, func(a, b unshown) int { return cmp.Compare(a.epoch, b.epoch) })
}

// passed ends the terms whose records the watch has passed.
func (m *Machine) passed() {
	n := 0
	for ; n < len(m.unshown) && m.unshown[n].epoch < m.view.delivered; n++ {
		u := m.unshown[n]
		r := u.role.task.mine
		switch {
		case r == nil || r.term == nil || !r.term.leading() || r.term.epoch != u.epoch: // over, or rotated
		case u.role.delivered >= u.epoch:
		case r.term.rotating != "" && !m.view.whole: // looked at again then
		default:
			r.term.given = true
			m.endTerm(r, Evicted, "")
		}
	}
	m.unshown = m.unshown[n:]
}

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
// The view goes back for that one key, by which the term ends, and a new watch shows what stands there: a claim over what does not
// would be refused for ever.
//
// A rotation of ours whose outcome is open may have taken the record's place, and come later: it is waited for, but no longer than
// others would wait for us.

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

// passed takes back the records of terms that the watch has passed.
func (m *Machine) passed() {
	n := 0
	var open []unshown
	for ; n < len(m.unshown) && m.unshown[n].epoch < m.view.delivered; n++ {
		u := m.unshown[n]
		r := u.role.task.mine
		switch {
		case r == nil || r.term == nil || !r.term.leading() || r.term.epoch != u.epoch: // over, or rotated
		case u.role.delivered >= u.epoch:
		case r.term.rotating != "" && m.now.Observer < r.term.rotatingSince.Add(m.cfg.TTL-m.cfg.Margin):
			open = append(open, u)
		default:
			m.view.unlearn(m.now.Observer, u.role, &m.news)
			m.rebuild("a record that was acknowledged does not stand")
		}
	}
	m.unshown = slices.Insert(m.unshown[n:], 0, open...)
}

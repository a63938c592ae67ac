package agenda

import "time"

// Agenda is a binary heap of what will happen on one clock. Its zero value is empty. Of two things
// at the same moment, the one that was added first happens first, so a simulation is repeatable.
// (The heap of the standard library would allocate for each of them: a tenth of a schedule.)
type Agenda struct {
	items []item
	added uint64
}

// item is something that will happen.
type item struct {
	at    time.Duration
	order uint64
	do    func()
}

// Add makes something happen at a moment.
func (a *Agenda) Add(at time.Duration, do func()) {
	a.added++
	a.items = append(a.items, item{at, a.added, do})
	for i := len(a.items) - 1; i > 0; {
		above := (i - 1) / 2
		if !a.before(i, above) {
			return
		}
		a.swap(i, above)
		i = above
	}
}

// Added is how many things were added so far.
func (a *Agenda) Added() uint64 { return a.added }

// Next is the moment of what happens next. It is false when nothing is left.
func (a *Agenda) Next() (at time.Duration, ok bool) {
	if len(a.items) == 0 {
		return 0, false
	}
	return a.items[0].at, true
}

// Take removes what happens next and returns its moment and what to do. It panics when nothing is
// left.
func (a *Agenda) Take() (at time.Duration, do func()) {
	first, last := a.items[0], len(a.items)-1
	a.swap(0, last)
	a.items[last] = item{}
	a.items = a.items[:last]
	for i := 0; ; {
		least := i
		for below := 2*i + 1; below <= 2*i+2 && below < last; below++ {
			if a.before(below, least) {
				least = below
			}
		}
		if least == i {
			return first.at, first.do
		}
		a.swap(i, least)
		i = least
	}
}

func (a *Agenda) before(i, j int) bool {
	p, q := &a.items[i], &a.items[j]
	return p.at < q.at || p.at == q.at && p.order < q.order
}

func (a *Agenda) swap(i, j int) { a.items[i], a.items[j] = a.items[j], a.items[i] }

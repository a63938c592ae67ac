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
	x := item{at, a.added, do}
	a.items = append(a.items, x)
	i := len(a.items) - 1
	for i > 0 {
		above := (i - 1) / 2
		if !x.before(&a.items[above]) {
			break
		}
		a.items[i] = a.items[above]
		i = above
	}
	a.items[i] = x
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
	x := a.items[last] // it sinks from the top to its place
	a.items[last] = item{}
	a.items = a.items[:last]
	if last == 0 {
		return first.at, first.do
	}
	i := 0
	for {
		below := 2*i + 1
		if below >= last {
			break
		}
		if right := below + 1; right < last && a.items[right].before(&a.items[below]) {
			below = right
		}
		if !a.items[below].before(&x) {
			break
		}
		a.items[i] = a.items[below]
		i = below
	}
	a.items[i] = x
	return first.at, first.do
}

func (x *item) before(y *item) bool { return x.at < y.at || x.at == y.at && x.order < y.order }

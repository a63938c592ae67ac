package search

import "errors"

var errUnrecoverable = errors.New("from here nothing leads to a good end any more, whatever happens but faults")

// Recoverable is a model in which everything must be able to come to a good end, whatever has
// happened: a state from which no moves but faults lead there is a violation (of liveness, if
// whatever can always happen again happens one day).
type Recoverable[S any] interface {
	Model[S]
	// Good reports whether a state is a good end.
	Good(s S) bool
	// Fault reports whether a move is something that goes wrong, which nobody may count on.
	Fault(m Move) bool
}

// heuristic is which states lead where, of those that were left.
type heuristic struct {
	number   map[uint64]uint32 // of states, by their fingerprint
	from, to []uint32
	good     []bool
}

// lost is the first state from which no good one can be reached, false when there is none.
func (h *heuristic) lost() (state uint32, is bool) {
	first := make([]uint32, len(h.good)+1) // of each state's own among the sorted
	for _, to := range h.to {
		first[to+1]++
	}
	for i := range h.good {
		first[i+1] += first[i]
	}
	sorted, next := make([]uint32, len(h.to)), append([]uint32(nil), first...)
	for i, to := range h.to {
		sorted[next[to]] = h.from[i]
		next[to]++
	}
	reached := append([]bool(nil), h.good...)
	var line []uint32
	for state, good := range h.good {
		if good {
			line = append(line, uint32(state))
		}
	}
	for len(line) > 0 {
		state := line[len(line)-1]
		line = line[:len(line)-1]
		for _, before := range sorted[first[state]:first[state+1]] {
			if !reached[before] {
				reached[before] = true
				line = append(line, before)
			}
		}
	}
	for state, is := range reached {
		if !is {
			return uint32(state), true
		}
	}
	return 0, false
}

// unrecoverable tells the way to a state from which there is no good one.
func unrecoverable[S any](m Model[S], nodes []node, state uint32) *Violation {
	v := &Violation{}
	if before := nodes[state].parent; before != root {
		v = retell(m, nodes, before, nodes[state].move)
	}
	v.Err = errUnrecoverable
	return v
}

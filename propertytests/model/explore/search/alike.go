package search

import (
	"errors"
	"fmt"
	"slices"
)

// errUnlike is a mistake of the model: its fingerprint leaves out what matters.
var errUnlike = errors.New("two states with one fingerprint continue differently")

// likeness holds states that are met again against the first one of their fingerprint: whatever a
// fingerprint leaves out, each must lead to states of the same fingerprints. It does so with one of
// so many fingerprints.
type likeness struct {
	every uint64 // 0: with none
	first map[uint64]sampled
	met   int // again
}

// sampled is what is kept of the first state of a fingerprint.
type sampled struct {
	node uint32
	to   []uint64
}

// broken is where the moves that break a promise lead.
const broken = ^uint64(0)

// keep takes a sample.
func keep[S any](l *likeness, m Model[S], s S, sum uint64, node uint32) {
	if l.every > 0 && sum%l.every == 0 {
		l.first[sum] = sampled{node, leadsTo(m, s)}
	}
}

// compare looks at a state that is met again, and says what is wrong with it.
func compare[S any](l *likeness, m Model[S], s S, sum uint64) (first sampled, err error) {
	if l.every == 0 || sum%l.every != 0 {
		return first, nil
	}
	l.met++
	first = l.first[sum]
	if !slices.Equal(first.to, leadsTo(m, s)) {
		return first, errUnlike
	}
	return first, nil
}

// leadsTo are the fingerprints of all states that the moves of a state lead to, sorted, each once.
func leadsTo[S any](m Model[S], s S) (to []uint64) {
	for _, move := range m.Moves(s, nil) {
		to = append(to, fingerprintAfter(m, s, move))
	}
	slices.Sort(to)
	return slices.Compact(to)
}

func fingerprintAfter[S any](m Model[S], s S, move Move) uint64 {
	next, err := m.Do(s, move)
	if err != nil {
		return broken
	}
	return m.Fingerprint(next)
}

// unlike tells two ways to what should continue alike, and which moves of each lead where none of
// the other does.
func unlike[S any](m Model[S], nodes []node, first sampled, from uint32, by Move, s S) *Violation {
	v := retell(m, nodes, from, by)
	v.Err = errUnlike
	v.Story = append([]string{"one way:"}, v.Story...)
	tell := func(s S, others []uint64) {
		for _, move := range m.Moves(s, nil) {
			if !slices.Contains(others, fingerprintAfter(m, s, move)) {
				_, lines, err := m.Tell(s, move)
				v.Story = append(v.Story, fmt.Sprintf("  from there alone (%v): %q", err, lines))
			}
		}
	}
	tell(s, first.to)
	v.Story = append(v.Story, "the other way:")
	if before := nodes[first.node]; before.parent != root {
		v.Story = append(v.Story, retell(m, nodes, before.parent, before.move).Story...)
	}
	tell(again(m, nodes, first.node), leadsTo(m, s))
	return v
}

// again makes a state once more.
func again[S any](m Model[S], nodes []node, at uint32) S {
	if nodes[at].parent == root {
		starts, _ := m.Start() // it was well the first time
		return starts[nodes[at].move]
	}
	s, _ := m.Do(again(m, nodes, nodes[at].parent), nodes[at].move)
	return s
}

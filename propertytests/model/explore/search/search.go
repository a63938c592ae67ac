package search

import (
	"errors"
	"fmt"
	"time"
)

// Model is what is searched. A state is never changed once it was made.
type Model[S any] interface {
	// Start returns the states to begin with, or a promise that was broken on the way to them.
	Start() ([]S, *Violation)
	// Moves appends what can happen in a state, always in the same order.
	Moves(s S, to []Move) []Move
	// Do makes a move. The error is a promise that was broken.
	Do(s S, m Move) (S, error)
	// Fingerprint is the same for states that continue in the same way.
	Fingerprint(s S) uint64
	// Tell makes a move again and says what happens, for a person to read.
	Tell(s S, m Move) (S, []string, error)
}

// Move is one thing that can happen, in the numbers of its model.
type Move uint32

// Bounds limit a search; 0 means no limit.
type Bounds struct {
	States int
	Depth  int
	// Liveness asks of a Recoverable model whether every state can come to a good end. Only a
	// search that has seen all states knows, and it takes 24 bytes for each state and 8 for each
	// transition.
	Liveness bool
	// Alike is of how many fingerprints one is looked at closely: every state that has it must
	// continue as the first one did. It is what shows that a fingerprint leaves out nothing that
	// matters.
	Alike int
	// Every is called now and then, to tell how far the search has come.
	Every func(Report)
}

// Report is what a search has seen.
type Report struct {
	States, Transitions int
	Depth               int  // the most moves from the start
	Waiting             int  // states that were found and not left
	Widest              int  // the most of them at one depth
	Whole               bool // nothing is left: these are all the states that there are
	Good                int  // good ends, which every state can come to
	Alike               int  // states that were held against another one of their fingerprint, and continue as that one
	Landmarks           []Landmark
	Took                time.Duration
	Violation           *Violation
}

func (r Report) String() string {
	s := fmt.Sprintf("%d states, %d transitions, depth %d, %v", r.States, r.Transitions, r.Depth,
		r.Took.Round(time.Millisecond))
	s += told(r.Landmarks)
	if r.Good > 0 {
		s += fmt.Sprintf(", all of which can come to one of %d good ends", r.Good)
	}
	if r.Alike > 0 {
		s += fmt.Sprintf(", %d held against their like", r.Alike)
	}
	if r.Whole {
		return s + ", all there are"
	}
	return fmt.Sprintf("%s, %d waiting", s, r.Waiting)
}

// Violation is a promise that was broken and the shortest way to it.
type Violation struct {
	Err   error
	Moves []Move
	Story []string
}

// node is where a state came from.
type node struct {
	parent uint32
	move   Move
}

type waiting[S any] struct {
	state S
	node  uint32
}

const root = ^uint32(0)

// Run searches.
func Run[S any](m Model[S], b Bounds) Report {
	begun := time.Now()
	var (
		r     Report
		known = newSeen()
		nodes []node
		now   []waiting[S]
		next  []waiting[S]
		moves []Move
		reach *heuristic
		like  = likeness{every: uint64(b.Alike), first: map[uint64]sampled{}}
	)
	recoverable, is := m.(Recoverable[S])
	if is && b.Liveness {
		reach = &heuristic{number: map[uint64]uint32{}}
	}
	marked, hasMarks := m.(Landmarked[S])
	if hasMarks {
		for _, name := range marked.Landmarks() {
			r.Landmarks = append(r.Landmarks, Landmark{Name: name})
		}
	}
	report := func() Report {
		r.States, r.Waiting, r.Alike, r.Took = known.count, len(now)+len(next), like.met, time.Since(begun)
		return r
	}
	found := func(s S, from uint32, by Move) {
		sum := m.Fingerprint(s)
		if !known.add(sum) {
			if first, err := compare(&like, m, s, sum); err != nil && from != root {
				r.Violation = unlike(m, nodes, first, from, by, s)
			}
		} else {
			nodes = append(nodes, node{from, by})
			next = append(next, waiting[S]{s, uint32(len(nodes) - 1)})
			keep(&like, m, s, sum, uint32(len(nodes)-1))
			if hasMarks {
				passed(r.Landmarks, marked.At(s))
			}
			if reach != nil {
				reach.number[sum] = uint32(len(nodes) - 1)
				reach.good = append(reach.good, recoverable.Good(s))
			}
		}
		if reach != nil && from != root && !recoverable.Fault(by) {
			reach.from, reach.to = append(reach.from, from), append(reach.to, reach.number[sum])
		}
	}
	starts, broken := m.Start()
	if broken != nil {
		return Report{States: len(broken.Moves), Transitions: len(broken.Moves), Took: time.Since(begun), Violation: broken}
	}
	for _, s := range starts {
		found(s, root, Move(len(nodes)))
	}
	for len(next) > 0 && (b.Depth == 0 || r.Depth < b.Depth) {
		now, next = next, now[:0]
		r.Widest = max(r.Widest, len(now))
		for i := range now {
			w := now[i]
			now[i] = waiting[S]{} // its memory is free for those that come after it
			moves = m.Moves(w.state, moves[:0])
			for _, move := range moves {
				r.Transitions++
				to, err := m.Do(w.state, move)
				if err != nil {
					r.Violation = retell(m, nodes, w.node, move)
					return report()
				}
				if found(to, w.node, move); r.Violation != nil {
					return report()
				}
			}
			if b.Every != nil && i%100_000 == 99_999 {
				b.Every(report())
			}
			if b.States > 0 && known.count >= b.States {
				now = now[i+1:]
				r.Depth++
				return report()
			}
		}
		now = now[:0]
		if len(next) > 0 {
			r.Depth++
		}
	}
	if r.Whole = len(next) == 0; r.Whole && reach != nil {
		if state, is := reach.lost(); is {
			r.Violation = unrecoverable(m, nodes, state)
			return report()
		}
		for _, good := range reach.good {
			if good {
				r.Good++
			}
		}
	}
	return report()
}

var errNotAgain = errors.New("a violation that cannot be played again")

// retell plays the moves to a violation once more, from the start.
func retell[S any](m Model[S], nodes []node, last uint32, move Move) *Violation {
	way := []Move{move}
	at := last
	for ; nodes[at].parent != root; at = nodes[at].parent {
		way = append(way, nodes[at].move)
	}
	starts, _ := m.Start() // it was well the first time
	s, v := starts[nodes[at].move], &Violation{}
	for i := len(way) - 1; i >= 0; i-- {
		v.Moves = append(v.Moves, way[i])
		next, lines, err := m.Tell(s, way[i])
		v.Story = append(v.Story, lines...)
		if err != nil {
			v.Err = err
			return v
		}
		s = next
	}
	v.Err = errNotAgain
	return v
}

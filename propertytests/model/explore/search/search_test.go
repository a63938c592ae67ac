package search

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// jugs is the riddle of two jugs of 3 and 5: to have 4 takes six moves.
type jugs struct{ want int }

var errFound = errors.New("found")

func (jugs) Start() ([][2]int, *Violation) { return [][2]int{{0, 0}}, nil }

func (jugs) Moves(_ [2]int, to []Move) []Move { return append(to, 0, 1, 2, 3, 4, 5) }

func (j jugs) Do(s [2]int, m Move) ([2]int, error) {
	size := [2]int{3, 5}
	i := int(m & 1)
	switch m / 2 {
	case 0:
		s[i] = size[i]
	case 1:
		s[i] = 0
	case 2:
		n := min(s[i], size[1-i]-s[1-i])
		s[i], s[1-i] = s[i]-n, s[1-i]+n
	}
	if s[0] == j.want || s[1] == j.want {
		return s, errFound
	}
	return s, nil
}

func (j jugs) Tell(s [2]int, m Move) ([2]int, []string, error) {
	to, err := j.Do(s, m)
	return to, []string{fmt.Sprint(to)}, err
}

func (jugs) Fingerprint(s [2]int) uint64 { return uint64(s[0]*6 + s[1]) }

func TestShortestWay(t *testing.T) {
	r := Run(jugs{4}, Bounds{})
	if r.Violation == nil || !errors.Is(r.Violation.Err, errFound) || len(r.Violation.Moves) != 6 {
		t.Fatalf("six moves were expected: %+v", r.Violation)
	}
	if want := []string{"[0 5]", "[3 2]", "[0 2]", "[2 0]", "[2 5]", "[3 4]"}; !slices.Equal(r.Violation.Story, want) {
		t.Errorf("told %v, want %v", r.Violation.Story, want)
	}
}

// forgetful is the riddle with a fingerprint that leaves out what the larger jug holds, unless the
// smaller one is empty.
type forgetful struct{ jugs }

func (forgetful) Fingerprint(s [2]int) uint64 {
	if s[0] > 0 {
		s[1] = 0
	}
	return jugs{}.Fingerprint(s)
}

func TestWhatIsTakenForOneGoesOnAlike(t *testing.T) {
	r := Run(forgetful{jugs{9}}, Bounds{Alike: 1})
	if r.Violation == nil || !errors.Is(r.Violation.Err, errUnlike) || len(r.Violation.Story) < 4 {
		t.Errorf("it goes unnoticed that much is left out: %v, %+v", r, r.Violation)
	}
	if r := Run(forgetful{jugs{9}}, Bounds{}); r.Violation != nil || r.Alike != 0 {
		t.Errorf("that was not asked for: %v", r)
	}
	if r := Run(jugs{9}, Bounds{Alike: 1}); r.Violation != nil || r.Alike == 0 {
		t.Errorf("nothing is left out: %v, %+v", r, r.Violation)
	}
}

func TestAllThereAre(t *testing.T) {
	r := Run(jugs{9}, Bounds{})
	if !r.Whole || r.States != 16 || r.Transitions != 16*6 || r.Violation != nil {
		t.Errorf("16 states were expected: %v, %+v", r, r.Violation)
	}
	if r := Run(jugs{9}, Bounds{Depth: 2}); r.Whole || r.Depth != 2 || r.States >= 16 {
		t.Errorf("two moves lead to all states: %v", r)
	}
	if r := Run(jugs{9}, Bounds{States: 5}); r.Whole || r.States < 5 || r.States > 5+6 {
		t.Errorf("a bound of 5 states has led to %v", r)
	}
}

// road is states with moves from one to the next; those from 100 on are faults.
type road struct {
	moves map[int][]Move
	good  int
}

func (road) Start() ([]int, *Violation)      { return []int{0}, nil }
func (r road) Moves(s int, to []Move) []Move { return append(to, r.moves[s]...) }
func (road) Do(_ int, m Move) (int, error)   { return int(m) % 100, nil }
func (road) Fingerprint(s int) uint64        { return uint64(s + 1) }
func (road) Tell(_ int, m Move) (int, []string, error) {
	return int(m) % 100, []string{fmt.Sprint(m)}, nil
}
func (r road) Good(s int) bool { return s == r.good }
func (road) Fault(m Move) bool { return m >= 100 }

func TestEveryStateCanEndWell(t *testing.T) {
	round := map[int][]Move{0: {1, 2}, 1: {0, 3}, 2: {4}, 4: {2, 101}}
	r := Run(road{round, 3}, Bounds{Liveness: true})
	if v := r.Violation; v == nil || !errors.Is(v.Err, errUnrecoverable) || !slices.Equal(v.Story, []string{"2"}) {
		t.Errorf("round and round, with no way out but a fault: %+v", r.Violation)
	}
	if r := Run(road{round, 3}, Bounds{}); r.Violation != nil || r.Good != 0 {
		t.Errorf("that was not asked for: %v", r)
	}
	round[4] = append(round[4], 1)
	if r := Run(road{round, 3}, Bounds{Liveness: true}); r.Violation != nil || r.Good != 1 || !r.Whole {
		t.Errorf("each of them leads to the end: %v, %+v", r, r.Violation)
	}
	if r := Run(road{nil, 3}, Bounds{Liveness: true}); r.Violation == nil || len(r.Violation.Story) != 0 {
		t.Errorf("there is nothing but the start: %v", r)
	}
}

func TestSeenGrows(t *testing.T) {
	s := newSeen()
	for i := range uint64(200_000) {
		if !s.add(i * 0x9E3779B97F4A7C15) {
			t.Fatalf("%d was taken for another one", i)
		}
	}
	for i := range uint64(200_000) {
		if s.add(i * 0x9E3779B97F4A7C15) {
			t.Fatalf("%d was forgotten", i)
		}
	}
}

// lame is a riddle whose beginning is out of reach.
type lame struct{ jugs }

func (lame) Start() ([][2]int, *Violation) {
	return nil, &Violation{Err: errFound, Moves: []Move{1, 2}, Story: []string{"[0 5]", "[0 0]"}}
}

// TestPromiseBrokenBeforeTheStart: what goes wrong on the way to the start is found as what goes
// wrong after it.
func TestPromiseBrokenBeforeTheStart(t *testing.T) {
	r := Run(lame{}, Bounds{States: 1})
	if v := r.Violation; v == nil || !errors.Is(v.Err, errFound) || len(v.Moves) != 2 || r.States != 2 || r.Whole {
		t.Errorf("%+v, violation %+v", r, v)
	}
}

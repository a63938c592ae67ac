package elections

import (
	"cmp"
	"slices"

	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

// setup is the way from where all processes have started to where the search begins.
type setup struct {
	x     *Model
	w     World
	told  bool // the way is kept, to be told
	moves []search.Move
	story []string
}

// settle goes it. The error is a promise that was broken, though nothing has gone wrong.
func (s *setup) settle() error {
	if s.x.cfg.Apart > 0 {
		for i := 1; i < s.x.cfg.Members; i++ {
			if err := s.calm(s.x.cfg.Apart); err != nil {
				return err
			}
			if err := s.make(move(again, i, 0)); err != nil {
				return err
			}
		}
	}
	if s.x.cfg.Settled {
		if err := s.calm(4 * s.x.cfg.TTL); err != nil {
			return err
		}
	}
	switch {
	case s.x.cfg.Crashed:
		if err := s.x.crash(&s.w, 0); err != nil {
			return err
		}
		s.story = append(s.story, "the first member has crashed")
	case s.x.cfg.Paused:
		if err := s.make(move(pause, 0, 0)); err != nil {
			return err
		}
		s.w.spent[Pause]-- // it is where the search begins, and none of its faults
	default:
		return nil
	}
	return s.calm(cmp.Or(s.x.cfg.Silent, 2*s.x.cfg.TTL))
}

// calm lets so many units pass on every clock, in which nothing goes wrong, everything in the order
// in which it is listed.
func (s *setup) calm(units int) error {
	if s.x.cfg.Lead > 0 { // a unit passes on one clock at a time
		units *= len(slices.DeleteFunc(slices.Clone(s.w.procs[:s.x.cfg.Members]),
			func(p *memberState) bool { return !p.alive() }))
	}
	for steps := 0; units > 0; steps++ {
		moves := slices.DeleteFunc(s.x.Moves(s.w, nil), func(m search.Move) bool {
			v, _, _ := parts(m)
			return v == joins || v == again || v == resume // late
		})
		v, _, _ := parts(moves[0])
		if v == passes {
			units--
		}
		if v > passes || steps > 100_000 {
			panic("elections: the world does not come to rest")
		}
		if err := s.make(moves[0]); err != nil {
			return err
		}
	}
	return nil
}

func (s *setup) make(m search.Move) (err error) {
	defer func() { s.w.passed = 0 }() // what is bounded begins after this
	if !s.told {
		s.w, err = s.x.Do(s.w, m)
		return err
	}
	var lines []string
	s.w, lines, err = s.x.Tell(s.w, m)
	s.moves, s.story = append(s.moves, m), append(s.story, lines...)
	return err
}

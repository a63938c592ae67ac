package protocol

// roleSet is a set of roles that is walked in an order which depends on nothing but the history of the machine, so that a
// simulation with one seed is one schedule.
type roleSet struct {
	list  []*role
	place map[*role]int
}

func (s *roleSet) len() int { return len(s.list) }

func (s *roleSet) has(r *role) bool {
	_, ok := s.place[r]
	return ok
}

func (s *roleSet) add(r *role) {
	if s.has(r) {
		return
	}
	if s.place == nil {
		s.place = map[*role]int{}
	}
	s.place[r] = len(s.list)
	s.list = append(s.list, r)
}

func (s *roleSet) remove(r *role) {
	i, ok := s.place[r]
	if !ok {
		return
	}
	last := len(s.list) - 1
	s.list[i] = s.list[last]
	s.place[s.list[i]] = i
	s.list[last] = nil
	s.list = s.list[:last]
	delete(s.place, r)
}

// clear empties the set and returns what was in it.
func (s *roleSet) clear() []*role {
	list := s.list
	*s = roleSet{}
	return list
}

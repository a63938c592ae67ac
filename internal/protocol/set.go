package protocol

// set is a set that is walked in an order which depends on nothing but the history of the machine,
// so that a simulation with one seed is one schedule.
type set[T comparable] struct {
	list  []T
	place map[T]int
}

func (s *set[T]) len() int { return len(s.list) }

func (s *set[T]) has(r T) bool {
	_, ok := s.place[r]
	return ok
}

func (s *set[T]) add(r T) {
	if s.has(r) {
		return
	}
	if s.place == nil {
		s.place = map[T]int{}
	}
	s.place[r] = len(s.list)
	s.list = append(s.list, r)
}

func (s *set[T]) remove(r T) {
	i, ok := s.place[r]
	if !ok {
		return
	}
	last := len(s.list) - 1
	s.list[i] = s.list[last]
	s.place[s.list[i]] = i
	var none T
	s.list[last] = none
	s.list = s.list[:last]
	delete(s.place, r)
}

// clear empties the set and returns what was in it.
func (s *set[T]) clear() []T {
	list := s.list
	*s = set[T]{}
	return list
}

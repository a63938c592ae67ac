package ahead

// Shelf holds the inputs of the last two portions that nobody has taken. Those of tasks that have
// ended meanwhile are never taken, and leave with their portion.
type Shelf[T any] struct {
	last, before map[uint64]T // by revision
	number       uint64       // that of the last portion
	inputs       int          // in it when it was read
	asked        bool         // for the one after it
	taken        uint64       // inputs that were taken from portions so far
}

// Want is an input that a frame waits for from now on.
func (s *Shelf[T]) Want(revision uint64) Want { return Want{revision, s.number, s.taken} }

// Take gives an input away.
func (s *Shelf[T]) Take(revision uint64) (x T, ok bool) {
	for _, portion := range []map[uint64]T{s.last, s.before} {
		if x, ok = portion[revision]; ok {
			delete(portion, revision)
			s.taken++
			return x, true
		}
	}
	return x, false
}

// Put takes a portion in which so many inputs of tasks are open, and of these the rest that frames
// do not await. Of those that they do, used were not known to be wanted when it was read.
func (s *Shelf[T]) Put(number uint64, inputs, used int, rest map[uint64]T) {
	s.number, s.inputs, s.asked = number, inputs, false
	s.taken += uint64(used)
	s.before, s.last = s.last, rest
}

// More asks once for the portion after the last one, when half of the inputs in that one are used.
// Nothing follows by itself a portion in which all tasks have ended.
func (s *Shelf[T]) More() (Want, bool) {
	if s.asked || s.inputs == 0 || len(s.last) > s.inputs/2 {
		return Want{}, false
	}
	s.asked = true
	return s.Want(0), true
}

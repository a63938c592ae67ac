package ahead

// Shelf holds the inputs of the last two portions that nobody has taken. Those of tasks that have
// ended meanwhile are never taken, and leave with their portion.
type Shelf[T any] struct {
	last, before map[uint64]T // by revision
	number       uint64       // that of the last portion
	records      int          // in it when it was read
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

// Put takes a portion of so many records, without those that frames await. Of these, used were not
// known to be wanted when it was read.
func (s *Shelf[T]) Put(number uint64, records, used int, inputs map[uint64]T) {
	s.number, s.records, s.asked = number, records, false
	s.taken += uint64(used)
	s.before, s.last = s.last, inputs
}

// More asks once for the portion after the last one, when half of that one is used.
func (s *Shelf[T]) More() (Want, bool) {
	if s.asked || s.records == 0 || len(s.last) > s.records/2 {
		return Want{}, false
	}
	s.asked = true
	return s.Want(0), true
}

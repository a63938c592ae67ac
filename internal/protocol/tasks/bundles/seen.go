package bundles

import "time"

// Seen is the bundles that somebody has seen standing a moment ago, each with what was read of it.
//
// A bundle never changes while it stands, and nothing is ever stored at a revision that has passed.
// So the first bundle of a block from a revision on is the same until it is removed. That there is
// none is not remembered: the next moment there may be one.
type Seen[T any] struct {
	keep  time.Duration
	most  int
	bytes int
	at    map[lookup]seen[T]
}

// lookup is the first bundle of a block that stands at a revision, or after it.
type lookup struct {
	block string
	from  uint64
}

type seen[T any] struct {
	read  T
	bytes int
	since time.Time
}

// NewSeen remembers each bundle for a time, and so many bytes of them at most.
func NewSeen[T any](keep time.Duration, most int) *Seen[T] {
	return &Seen[T]{keep: keep, most: most, at: map[lookup]seen[T]{}}
}

// First is what was read of the first bundle of a block from a revision on, unless that is too long
// ago.
func (s *Seen[T]) First(block string, from uint64, now time.Time) (read T, ok bool) {
	x, ok := s.at[lookup{block, from}]
	if !ok || now.Sub(x.since) > s.keep {
		return read, false
	}
	return x.read, true
}

// Stood takes down what was read of that bundle, and how many bytes it takes. The reading began at
// since. Those that were seen first are forgotten if there is no room.
func (s *Seen[T]) Stood(block string, from uint64, read T, bytes int, since time.Time) {
	s.drop(lookup{block, from})
	s.at[lookup{block, from}] = seen[T]{read, bytes, since}
	for s.bytes += bytes; s.bytes > s.most; {
		s.drop(s.oldest())
	}
}

// Forget forgets the bundles of a block.
func (s *Seen[T]) Forget(block string) {
	for at := range s.at {
		if at.block == block {
			s.drop(at)
		}
	}
}

func (s *Seen[T]) oldest() (at lookup) {
	var since time.Time
	for other, x := range s.at {
		if since.IsZero() || x.since.Before(since) {
			at, since = other, x.since
		}
	}
	return at
}

func (s *Seen[T]) drop(at lookup) {
	s.bytes -= s.at[at].bytes
	delete(s.at, at)
}

package timings

import (
	"maps"
	"slices"
	"time"
)

const (
	// MaxKinds is how many kinds are kept. Of more, the one that was noted the longest ago leaves.
	MaxKinds = 256
	// half is the length of half a window: percentiles are those of the last 5 to 10 minutes.
	half = 5 * time.Minute
)

// Book has the times of the kinds of one namespace. It belongs to one goroutine.
type Book struct {
	kinds map[string]*times
	begun time.Time // the present half of the window
	uses  uint64
}

// times are those of one kind. The arrays of a kind take 5 KiB.
type times struct {
	waited, ran [2]histogram // of the present half of the window, and of the one before
	used        uint64
}

// Summary is what is told about some times.
type Summary struct {
	P50, P99 time.Duration
	Count    int
}

// New returns an empty book.
func New() *Book { return &Book{kinds: map[string]*times{}} }

// Waited notes that a task was handed out after that long.
func (b *Book) Waited(now time.Time, kind string, d time.Duration) { b.of(now, kind).waited[0].add(d) }

// Ran notes that the last attempt of a task took that long.
func (b *Book) Ran(now time.Time, kind string, d time.Duration) { b.of(now, kind).ran[0].add(d) }

// Of sums up the times of a kind. Count is 0 if there are none.
func (b *Book) Of(now time.Time, kind string) (waited, ran Summary) {
	b.turn(now)
	t := b.kinds[kind]
	if t == nil {
		return waited, ran
	}
	return sum(&t.waited), sum(&t.ran)
}

// Kinds are those that have times, by name.
func (b *Book) Kinds(now time.Time) []string {
	b.turn(now)
	return slices.Sorted(maps.Keys(b.kinds))
}

// of returns the times of a kind to note something in.
func (b *Book) of(now time.Time, kind string) *times {
	b.turn(now)
	t := b.kinds[kind]
	if t == nil {
		if len(b.kinds) >= MaxKinds {
			b.evict()
		}
		t = &times{}
		b.kinds[kind] = t
	}
	b.uses++
	t.used = b.uses
	return t
}

func (b *Book) evict() {
	oldest := ""
	for kind, t := range b.kinds {
		if oldest == "" || t.used < b.kinds[oldest].used {
			oldest = kind
		}
	}
	delete(b.kinds, oldest)
}

// turn begins another half of the window if the present one is over. Kinds without times leave.
func (b *Book) turn(now time.Time) {
	passed := now.Sub(b.begun)
	if passed < half {
		return
	}
	for kind, t := range b.kinds {
		t.waited[1], t.ran[1] = t.waited[0], t.ran[0]
		if passed >= 2*half {
			t.waited[1], t.ran[1] = histogram{}, histogram{}
		}
		t.waited[0], t.ran[0] = histogram{}, histogram{}
		if t.waited[1].count+t.ran[1].count == 0 {
			delete(b.kinds, kind)
		}
	}
	b.begun = now
}

func sum(both *[2]histogram) (s Summary) {
	all := both[0]
	all.merge(&both[1])
	if s.Count = int(all.count); s.Count > 0 {
		s.P50, s.P99 = all.percentile(50), all.percentile(99)
	}
	return s
}

package ahead

import (
	"cmp"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

const (
	// Most is how many records a portion has at most.
	Most = 512
	// A portion is worth reading if one record in so many is wanted.
	worthwhile  = 16
	fewestInRow = 8               // inputs, close to each other, before a reading begins
	idle        = 5 * time.Second // the server is about to forget the reading then
)

// Want is an input that a frame waits for, or with revision 0 the portion that follows the last one
// that was seen: half of that one is used.
type Want struct {
	Revision uint64
	Seen     uint64 // the last portion that came before
	Taken    uint64 // inputs that were taken from portions so far
}

// Step is what the owner does next.
type Step uint8

const (
	Done    Step = iota
	Alone        // read each input by itself
	Begin        // begin a reading at the first input
	Portion      // read the next portion
	End          // end the reading, and ask again
)

// Reader decides how inputs are read. There is one reading at most, which goes forward.
type Reader struct {
	reading bool
	at      uint64         // the last revision that it has read
	used    record.Instant // when
	pause   record.Instant // until then no other one begins
	recent  []uint64       // revisions that were wanted last

	portion      uint64          // the number of the last one
	along, older map[uint64]bool // the revisions of the last two, without those that were wanted
	latest       uint64          // inputs that were taken from portions, as is known,
	taken        uint64          // and when the last one was read
	spare        int             // portions that may still be read for one list
}

// Sort says which of the wants are to be read alone, since the reading is past them, and which are
// for [Reader.Next], in the order of revisions. All others come, or have come, with a portion.
// More says that the next portion is to be read, whatever is wanted of it.
func (r *Reader) Sort(now record.Instant, wants []Want) (behind, list []Want, more bool) {
	for _, w := range wants {
		r.latest = max(r.latest, w.Taken)
		switch {
		case w.Revision == 0:
			more = more || w.Seen == r.portion
		case w.Seen < r.portion && r.along[w.Revision], w.Seen+1 < r.portion && r.older[w.Revision]:
		default:
			list = append(list, w)
		}
	}
	slices.SortFunc(list, func(a, b Want) int { return cmp.Compare(a.Revision, b.Revision) })
	for _, w := range list {
		r.recent = append(r.recent, w.Revision)
	}
	r.recent = r.recent[max(len(r.recent)-fewestInRow, 0):]
	r.spare = 2 + len(list)/Most
	if r.reading && now < r.used.Add(idle) {
		at, _ := slices.BinarySearchFunc(list, r.at+1, func(w Want, revision uint64) int {
			return cmp.Compare(w.Revision, revision)
		})
		behind, list = list[:at], list[at:]
	}
	return behind, list, more
}

// Next is what to do for what is still wanted of the list.
func (r *Reader) Next(now record.Instant, list []Want, more bool) Step {
	switch {
	case r.reading && now >= r.used.Add(idle):
		return End
	case len(list) == 0 && r.reading && more:
		return Portion
	case len(list) == 0:
		return Done
	case r.reading && (r.wasted(list[0]) || list[0].Revision > r.at+Most*worthwhile):
		return End
	case r.reading && r.spare > 0:
		return Portion
	case !r.reading && r.inRow() && now >= r.pause:
		return Begin
	}
	return Alone
}

// wasted reports whether hardly anything of the last portion was of use. A frame that has not seen
// it, or was sent before what is in it was handed out, says nothing about that.
func (r *Reader) wasted(w Want) bool {
	return w.Seen == r.portion && len(r.along) > Most/2 &&
		w.Taken-r.taken < uint64(len(r.along)/worthwhile)
}

// inRow reports whether the inputs that were wanted last were close to each other.
func (r *Reader) inRow() bool {
	return len(r.recent) == fewestInRow && slices.Max(r.recent)-slices.Min(r.recent) <= fewestInRow*worthwhile
}

// Began notes that a reading has begun at a revision, since a time.
func (r *Reader) Began(since, now record.Instant, first uint64) {
	r.reading, r.at, r.used, r.along = true, first-1, now, nil
	r.pause = now.Add(max(time.Second, worthwhile*now.Sub(since))) // for the server's sake
}

// Read notes a portion: the revisions of its records, in their order, at least one. It returns what
// is wanted of later ones, and what is missing in this one, to be read alone.
func (r *Reader) Read(now record.Instant, revisions []uint64, list []Want) (missing, later []Want) {
	r.portion, r.used, r.taken, r.spare = r.portion+1, now, r.latest, r.spare-1
	r.older, r.along = r.along, make(map[uint64]bool, len(revisions))
	for _, r.at = range revisions {
		r.along[r.at] = true
	}
	for last := uint64(0); len(list) > 0 && list[0].Revision <= r.at; list = list[1:] {
		w := list[0]
		if !r.along[w.Revision] && w.Revision != last {
			missing = append(missing, w)
		}
		delete(r.along, w.Revision)
		last = w.Revision
	}
	return missing, list
}

// Along reports whether a record of the last portion was not wanted.
func (r *Reader) Along(revision uint64) bool { return r.along[revision] }

// Number is that of the last portion.
func (r *Reader) Number() uint64 { return r.portion }

// Ended notes that the reading has ended, or did not begin. No other one begins for so long.
func (r *Reader) Ended(now record.Instant, pause time.Duration) {
	r.reading = false
	r.pause = max(r.pause, now.Add(pause))
}

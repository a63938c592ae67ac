// Package gaps tells whether a reading of a stream may have missed the state of a subject.
//
// A subject has one record. A reading that continues while others write never finds a record that
// is replaced before the reading comes to it. The record that took its place stands later in the
// stream, and may be replaced in turn before the reading comes there. So a record that is written
// again and again stays ahead of the reading.
//
// Invariant: each seal is written after the reading has come to the one before it. When no gap is
// left between two of them that follow each other, the reading has seen of every subject the record
// that stood when the first of the two was stored, or a later one. For say that it has missed that
// record: then another one has taken its place before the reading came to the first seal, so before
// the second was written. That one stands between the two. The reading has seen it, or it has left
// a gap. A gap is closed when the reading comes to the record that was written over it: then it has
// seen a later one.
package gaps

// Most is how many gaps are kept between two seals. With more, nothing is known.
const Most = 1024

// Reading is what a reading has left out since it has come to a seal.
type Reading struct {
	last        uint64
	seals       [2]uint64 // the last one, and the one before it
	before, now stretch   // between these two, and since the last
	from        uint64    // the first seal of which it is not known whether all that stood then was seen
}

// stretch is what was left out between two seals.
type stretch struct {
	missing map[uint64]struct{} // revisions
	lost    bool                // too many to be kept
}

func (w *stretch) clean() bool { return !w.lost && len(w.missing) == 0 }

// Any reports whether there are gaps that a record may close: only then Read needs to know what a
// record was written over.
func (r *Reading) Any() bool { return len(r.now.missing)+len(r.before.missing) > 0 }

// Read takes down that the reading has come to a record. The record was written over the one at
// revision over, by its condition; 0 if it has none about its own subject.
func (r *Reading) Read(revision, over uint64) {
	if r.seals[0] > 0 {
		r.now.skip(r.last+1, revision)
	}
	if over > 0 {
		delete(r.now.missing, over)
		delete(r.before.missing, over)
	}
	r.last = max(r.last, revision)
}

// skip takes down the revisions from the first to before the last.
func (w *stretch) skip(from, to uint64) {
	if from >= to || w.lost {
		return
	}
	if to-from > Most-uint64(len(w.missing)) {
		w.missing, w.lost = nil, true
		return
	}
	if w.missing == nil {
		w.missing = map[uint64]struct{}{}
	}
	for ; from < to; from++ {
		w.missing[from] = struct{}{}
	}
}

// Seal takes down that the record which was read last is a seal of the reader. It returns the first
// of the seals before it of which it is not known that the reading has seen all that stood in the
// stream when that one was stored: 0 for none.
func (r *Reading) Seal() (missed uint64) {
	switch {
	case r.now.clean():
		r.from = r.last
	case r.before.clean():
		r.from, missed = r.seals[0], r.seals[0]
	default:
		missed = r.from
	}
	r.before, r.now = r.now, stretch{}
	r.seals = [2]uint64{r.last, r.seals[0]}
	return missed
}

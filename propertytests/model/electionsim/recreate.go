package electionsim

import "time"

// recreate deletes the bucket, and makes it again after a while: empty, and with revisions above
// all of the old one. A message under way arrives in the bucket that is there then. Before half of
// the deletions the network is at its worst, so there are more such messages.
func (w *world) recreate(gap time.Duration) {
	if w.chance(500) {
		before := min(time.Second, max(Length-w.now, 0))
		w.storm = max(w.storm, w.now+before)
		w.after(before, func() { w.remove(gap, w.makeAgain) })
		return
	}
	w.remove(gap, w.makeAgain)
}

// remove deletes the bucket, and does something after a while.
func (w *world) remove(gap time.Duration, then func()) {
	old := w.store
	if old.deleted {
		return
	}
	w.trace.add(w.now, nil, "bucket", "is deleted")
	old.deleted, old.gone = true, w.now
	w.gone = append(w.gone, old)
	for _, p := range w.members {
		p.hush()
	}
	if gap = min(gap, max(Length-w.now, 0)); gap == 0 {
		then()
		return
	}
	w.after(gap, then)
}

// makeAgain makes the bucket. The first revision of a real one is its time, far above all before;
// that it is above them is all that counts, so half of them here begin right there.
func (w *world) makeAgain() {
	next := newStore()
	next.first, next.single = w.store.firstOfNext(), w.store.single
	if w.rng.IntN(2) == 0 {
		next.first += 1_000_000
	}
	w.store = next
	w.Counts.Recreated++
	w.trace.add(w.now, nil, "bucket", "is recreated")
}

// firstOfNext is the lowest revision with which the bucket after s may begin.
func (s *store) firstOfNext() uint64 { return s.next() }

// hush: a watch of a bucket that is gone falls silent, with or without what was on its way. Silence
// ends it after a while.
func (p *process) hush() {
	f := p.feed
	if f == nil {
		return
	}
	if p.w.rng.IntN(2) == 0 {
		f.dead = true
	}
	p.inLife(p.w.between(3*time.Second, 6*time.Second), func() {
		if p.feed == f {
			p.rebuild()
		}
	})
}

// late counts what was sent while there was another bucket than the one in which it has landed.
func (w *world) late(sentTo *store, c *commit) {
	switch {
	case w.store == sentTo || w.store.deleted:
	case c != nil:
		w.Counts.LateWon++
	default:
		w.Counts.LateRefused++
	}
}

// restoreAfter is an operator who restores a bucket that gets lost: it is recreated after a while,
// empty, above all of the old one, and marked from its first moment on. Then it is adopted, unless
// the operator is interrupted between the two, and begins again.
func (w *world) restoreAfter(f Fault) {
	if w.store.deleted {
		return
	}
	for _, p := range w.members {
		for _, t := range p.work {
			if t.leading && p.alive && p.until > w.now {
				w.Counts.LedThroughLoss++
			}
		}
	}
	w.remove(f.For, func() {
		w.makeAgain()
		w.adoptions++
		w.store.adoption = adoption{identity: w.store.identity, mark: w.adoptions}
		w.store.fromBackup = true
		w.Counts.Restored++
		interrupted := time.Duration(0)
		if f.Role%2 == 0 {
			interrupted = w.between(0, MaxTTL)
		}
		w.after(interrupted, func() { w.adopt(f) })
	})
}

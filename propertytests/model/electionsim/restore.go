package electionsim

import "time"

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

package electionsim

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// adoption is what the metadata of a bucket say of its identity.
type adoption struct {
	identity int // changes with each adoption that ends
	mark     int // of the adoption that is under way, 0: none
	floor    uint64
	adopted  bool
}

// atMost is more than all that is written between a mark and its purge.
const atMost = 4000

// adopt is an operator who adopts the bucket: mark, revoke every live lease until the purge, wait
// L_max, purge, new identity. It may be interrupted before a step, and is begun again then; or
// another operator begins meanwhile.
func (w *world) adopt(f Fault) {
	if w.store.deleted {
		return
	}
	w.adoptions++
	mark := w.adoptions
	// the clocks of two operators may be apart
	floor := max(w.store.next()+atMost+w.rng.Uint64N(atMost), w.store.floor+1)
	w.store.mark, w.store.floor = mark, floor
	w.floors = append(w.floors, floor)
	w.trace.add(w.now, nil, "bucket", fmt.Sprintf("adoption %d begins", mark))
	crashed := -1
	switch f.Who % 3 {
	case 0:
		crashed = f.Role % 3
		w.after(w.between(0, MaxTTL), func() { w.adopt(Fault{Who: 2}) })
	case 1:
		w.after(w.between(0, MaxTTL), func() { w.adopt(Fault{Who: 2}) })
	}
	ours := func() bool { return w.store.mark == mark }
	end := w.now + MaxTTL
	w.step(crashed == 0, func() {
		w.revokeAll(func() bool { return ours() && w.now <= end+time.Second })
		w.at(end, func() {
			if !ours() {
				return
			}
			w.step(crashed == 1, func() { // it has looked, and its purge is under way
				w.purge(floor)
				w.step(crashed == 2, func() {
					if ours() {
						w.Counts.Adopted++
						w.store.adoption = adoption{identity: w.store.identity + 1, floor: floor, adopted: true}
						w.trace.add(w.now, nil, "bucket", fmt.Sprintf("adoption %d ends", mark))
					}
				})
			})
		})
	})
}

// step is the next step of an adoption, after a moment, unless the operator's machine is down.
func (w *world) step(crashed bool, do func()) {
	if !crashed {
		w.after(w.between(0, 5*time.Millisecond), do)
	}
}

// revokeAll revokes every live lease, again and again.
func (w *world) revokeAll(on func() bool) {
	if !on() || w.store.deleted {
		return
	}
	for _, key := range w.store.all {
		c := w.store.newest(key)
		if c == nil || c.entry.Kind != record.KindLease || c.entry.Form != record.FormRecord || !c.entry.Lease.Alive() {
			continue
		}
		rec := c.entry.Lease
		rec.State, rec.By = record.Revoked, "operator"
		w.Counts.Revoked++
		w.committed(w.store.put(w.now, key, record.Encode(rec), false))
	}
	w.after(w.between(time.Millisecond, 50*time.Millisecond), func() { w.revokeAll(on) })
}

// purge removes every record below a floor, without a marker, and revisions rise to it. Watches do
// not show it, and continue.
func (w *world) purge(floor uint64) (removed int) {
	w.trace.add(w.now, nil, "bucket", fmt.Sprintf("is purged below %d", floor))
	w.Counts.Purges++
	for _, p := range w.members {
		for _, t := range p.work {
			if t.leading && p.alive && p.until > w.now {
				w.Counts.LedThroughPurge++
			}
		}
	}
	for _, key := range w.store.all {
		if c := w.store.newest(key); c != nil && c.entry.Revision < floor {
			c.removed = true
			removed++
		}
	}
	if next := w.store.next(); next < floor {
		w.store.skip(w.now, floor-next)
	}
	return removed
}

// purged reports whether the record of a term went in a purge.
func (w *world) purged(t *work) bool {
	c := w.store.at(t.epoch)
	return c != nil && c.removed
}

// latePurge is that of an adoption which was overtaken: it had looked before, and its request comes
// now, to a bucket that has its new identity already. It removes nothing.
func (w *world) latePurge() {
	if !w.store.adopted || w.store.mark != 0 || w.store.deleted || len(w.floors) < 2 {
		return
	}
	floor := w.floors[w.rng.IntN(len(w.floors)-1)]
	w.Counts.LatePurges++
	if n := w.purge(floor); n > 0 {
		w.violate("E1: the purge of an overtaken adoption has removed %d records", n)
	}
}

// isAnother reports whether the bucket has another identity than when the process opened it.
func (p *process) isAnother() bool {
	return p.w.store.mark != 0 || p.identity != p.w.store.identity
}

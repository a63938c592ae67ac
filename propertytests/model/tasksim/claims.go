package tasksim

import (
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// claimed is a claim, which keeps bundles out of a block.
type claimed struct{}

// claimsStand is for how long a claim stands. A bundle is sent again for half of that, and a client
// relies on its claim for a third, as in the driver. No message travels for the sixth that is left.
func (w *taskWorld) claimsStand() time.Duration { return 36 * w.Lease }

// lastOf is the last sequence of a subject, or of those that end in one more word in the place of
// "*".
func (s *taskStream) lastOf(filter string) (last uint64) {
	prefix, several := strings.CutSuffix(filter, "*")
	if !several {
		return s.last[filter]
	}
	for subject, n := range s.last {
		if word, of := strings.CutPrefix(subject, prefix); of && !strings.Contains(word, ".") {
			last = max(last, n)
		}
	}
	return last
}

// bundlesOf is the subjects of the bundles of a block.
func bundlesOf(block string) string { return "b." + block + ".*" }

// shelf is what stands among the bundles of a block from a time on, by sequence.
type shelf struct {
	at  time.Duration
	all []uint64
}

// sees remembers what stands among the bundles of a block that has changed, for the servers that
// lag.
func (w *taskWorld) sees(subject string) {
	name, is := strings.CutPrefix(subject, "b.")
	if !is || !w.Leavers {
		return
	}
	block, _, _ := bundles.Split(name)
	x := shelf{at: w.now}
	for subject, n := range w.store.last {
		if strings.HasPrefix(subject, "b."+block+".") {
			x.all = append(x.all, n)
		}
	}
	slices.Sort(x.all)
	w.shelves[block] = append(w.shelves[block], x)
}

// reads reads what stands among the bundles of a block, from a server that may lag, and whether a
// task is an open member of one that it shows.
func (w *taskWorld) reads(b *bundleOf, id string) (stands bundles.Standing, member bool) {
	at := w.now
	if !w.calm && w.chance(w.Late) {
		at -= w.upTo(2 * w.Lease)
	}
	name, _, open := w.store.in(id)
	for _, x := range slices.Backward(w.shelves[b.block]) {
		if x.at > at {
			continue
		}
		for _, n := range x.all {
			stands.Meets(w.store.log[n-1].subject[2:], n)
			member = member || open && n == w.store.last["b."+name]
		}
		break
	}
	return stands, member
}

// claimEarly has a block claimed before its bundle comes: a task of the block was submitted again
// that is not in the bundle.
func (w *taskWorld) claimEarly(b *bundleOf, comes time.Duration) {
	if !w.Leavers || !w.chance(0.5) {
		return
	}
	w.after(comes-w.upTo(w.claimsStand()*5/4), func() {
		stands, _ := w.reads(b, b.id(0))
		w.claim(b, stands, func() {})
	})
}

// submitAgain has callers of a bundle leave, and submit their tasks again by their ids.
func (w *taskWorld) submitAgain(b *bundleOf) {
	for place := range b.indexes {
		if !w.chance(0.2) {
			continue
		}
		w.unsure++
		w.after(w.upTo(w.Lease<<w.rng.IntN(6)), func() {
			done := false
			w.again(b, place, &done)
		})
	}
}

// again submits a member of a bundle again, until it is known to be there.
func (w *taskWorld) again(b *bundleOf, place int, done *bool) {
	id, member, stands := b.id(place), false, bundles.Standing{}
	w.request(func() (record.Outcome, bool) {
		stands, member = w.reads(b, id)
		return record.Won, true
	}, func(bool) {
		switch {
		case *done:
		case member:
			*done = true
			w.unsure--
		default:
			w.claim(b, stands, func() {
				if !*done {
					w.try(id, b.members[place], done)
				}
			})
		}
	})
	w.after(w.Lease, func() {
		if !*done {
			w.again(b, place, done)
		}
	})
}

// claim keeps bundles out of a block, if nothing has come since a reading. then is called when none
// will come.
func (w *taskWorld) claim(b *bundleOf, stands bundles.Standing, then func()) {
	sent := record.Instant(w.now + 1)
	if w.chance(0.7) && w.claims.Hold(b.block, stands, sent) { // else it is another client's
		w.Relied++
		then()
		return
	}
	sequence, subject := uint64(0), "b."+bundles.ClaimOf(b.id(0))
	w.request(func() (o record.Outcome, won bool) {
		o, sequence = w.store.write(put{subject, claimed{}, bundlesOf(b.block), stands.Last})
		if won = o == record.Won; won {
			w.after(w.claimsStand(), func() {
				if w.store.expire(subject, sequence) {
					w.sees(subject)
				}
			})
		}
		return o, won
	}, func(won bool) {
		if won {
			w.Claims++
			w.claims.Stored(b.block, sequence, sent)
			then()
		}
	})
}

// refused finds out what became of a bundle that was refused, and has its members go alone if it is
// shut out.
func (w *taskWorld) refused(b *bundleOf, done *bool, there func()) {
	stands := bundles.Standing{}
	w.request(func() (record.Outcome, bool) {
		stands, _ = w.reads(b, b.id(0))
		return record.Won, true
	}, func(bool) {
		switch stands.FateOf(b.id(0)) {
		case bundles.FateStored:
			there()
		case bundles.FateOther:
			w.claim(b, stands, func() { w.shutOut(b, done) })
		}
	})
}

// shutOut has the members of a bundle go alone.
func (w *taskWorld) shutOut(b *bundleOf, done *bool) {
	if *done {
		return
	}
	*done = true
	w.unsure--
	w.ShutOut++
	for place := range b.indexes {
		w.unsure++
		alone := false
		w.try(b.id(place), b.members[place], &alone)
	}
}

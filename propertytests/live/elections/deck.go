package elections

import (
	"math/rand/v2"

	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

type electionFault = storm.Fault[*electionStorm, *Process]

// deck says which fault is next: each kind once, in an order drawn at random, and from then on by
// weight. So a storm has had every kind after some two dozen faults, where weights alone leave some
// out for hours.
type deck struct {
	kinds  []electionFault
	due    []electionFault // have not struck yet
	balked bool            // the first of them could not be done when it was drawn last
}

func newDeck(kinds []electionFault, rng *rand.Rand) *deck {
	d := &deck{kinds: kinds}
	for _, i := range rng.Perm(len(kinds)) {
		d.due = append(d.due, kinds[i])
	}
	return d
}

// draw is the next fault. After one that could not be done comes any other: it may be what makes
// the first possible.
func (d *deck) draw(rng *rand.Rand) electionFault {
	if len(d.due) > 0 && !d.balked {
		next := d.due[0]
		d.due, d.balked = append(d.due[1:], next), true
		return next
	}
	d.balked = false
	return storm.Draw(rng, d.kinds)
}

// struck says that a fault could be done.
func (d *deck) struck(f electionFault) {
	d.balked = false
	for i, due := range d.due {
		if due.Name == f.Name {
			d.due = append(d.due[:i], d.due[i+1:]...)
			return
		}
	}
}

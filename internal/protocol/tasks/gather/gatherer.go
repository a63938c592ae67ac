package gather

import (
	"math"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

const (
	// Most is how many writes one batch may hold (the bound of the server).
	Most = 1000
	// Halvings is how often a batch that was not stored is tried again in halves.
	Halvings = 2

	fewest = 8 // fewer are not worth a batch, and say nothing of the pace of a store
	probe  = 8 * group
	first  = 2 * group // in flight alone, while the pace is not known
	hold   = 250 * time.Millisecond
	calm   = 100 * time.Millisecond // for which a few wait at most
	quiet  = time.Second            // without batches, after one that was not answered
	margin = 4                      // the part of a batch's time by which writes one by one have to be slower
	longer = 4                      // the part of a batch's time for which the next one waits
	rest   = 4                      // the times of a batch for which a few writes wait that never go alone
	chance = 2                      // batches in a row that go though batches seem too dear, see G7
)

// Gatherer decides for the writes of one owner to one stream. All times are on the owner's scale.
type Gatherer struct {
	alone    int  // writes in flight that go alone
	together int  // writes in the batch under way, 0: there is none
	one      bool // it is one record, and no batch
	sent     record.Instant
	turned   bool // what enters waits for a batch
	dear     int  // batches in a row that went though they seemed not to pay
	expected int  // writes that may come soon: those of the last batch, and what waited meanwhile
	until    record.Instant
	rested   record.Instant // until then a few wait
	barred   record.Instant
	held     record.Instant // since when writes wait until the pace is known, 0: none waits

	sizes  sizes
	pace   pace
	cost   price
	ones   price // of what goes as one record
	lately lately
	recent recent
}

// Ticket is a write that goes alone, from when it is sent until it is answered.
type Ticket struct{ sent record.Instant }

// Enter takes a write of so many bytes. It reports whether the write goes alone, now; else it waits
// for [Gatherer.Next].
func (g *Gatherer) Enter(now record.Instant, bytes int) (t Ticket, alone bool) {
	g.sizes.add(bytes)
	if g.turn(now, 1); g.turned || g.alone >= g.most(now) && !g.late(now) {
		return Ticket{}, false
	}
	return g.Alone(now), true
}

// turn has what enters wait for a batch if that is clearly faster. So many do not go yet.
func (g *Gatherer) turn(now record.Instant, waiting int) {
	if !g.turned && g.pays(now, g.alone+waiting) {
		g.turned, g.expected, g.pace.asked = true, 0, false
	}
}

// most is how many may be in flight alone: one before the way to the store is known, and few before
// its pace is.
func (g *Gatherer) most(now record.Instant) int {
	if g.pace.known(now) || now < g.barred || g.recent.often() {
		return math.MaxInt
	}
	most := first
	if g.pace.way.least() == 0 {
		most = 1
	}
	return most
}

// late reports whether writes have waited for the pace for so long that all go.
func (g *Gatherer) late(now record.Instant) bool { return g.held > 0 && now >= g.held.Add(hold) }

// release is how many of those that wait go alone now. It notes since when the others wait.
func (g *Gatherer) release(now record.Instant, waiting int) int {
	most := g.most(now)
	switch {
	case g.alone+waiting <= most:
		if g.held > 0 && most == math.MaxInt {
			g.pace.more()
		}
		g.held = 0
		return waiting
	case g.late(now):
		return waiting
	case waiting > 0 && g.held == 0:
		g.held = now
	}
	return min(max(most-g.alone, 0), waiting)
}

// Turned reports whether what enters waits for a batch.
func (g *Gatherer) Turned() bool { return g.turned }

// Alone notes that a write is sent alone.
func (g *Gatherer) Alone(now record.Instant) Ticket {
	g.alone++
	g.pace.sent(now, g.alone)
	return Ticket{now}
}

// Answered notes the answer to a write that went alone, or that there is none.
func (g *Gatherer) Answered(now record.Instant, t Ticket) {
	if g.alone--; g.alone == 0 { // nothing is late among the next ones
		g.held = 0
	}
	g.pace.answered(now, t, g.alone)
}

// Next says how many of the writes that wait go now, and whether they go together. Its owner then
// calls [Gatherer.Batch] or [Gatherer.One] once, or [Gatherer.Alone] for each, and asks again with
// each answer.
func (g *Gatherer) Next(now record.Instant, waiting int) (n int, together bool) {
	if waiting > 0 {
		g.turn(now, waiting)
	}
	switch {
	case !g.turned:
		return g.release(now, waiting), false
	case g.alone > 0 || g.together > 0:
		return 0, false
	case waiting < g.expected && now < g.until:
		return 0, false
	case !g.pace.known(now) && waiting >= group && !g.pace.asked:
		g.pace.asked = true
		return min(waiting, probe), false
	case waiting > 0 && g.pays(now, waiting+g.lately.since(now.Add(-g.cost.of(now, 0)))):
		g.dear = 0
		g.cost.pays(now)
		return min(waiting, Most), true
	case g.able(now, g.sizes.fit(waiting)) && g.dear < chance:
		g.dear++
		return min(waiting, Most), true
	}
	if g.dear == chance {
		g.cost.dear()
	}
	g.turned, g.dear = false, 0
	return waiting, false
}

// Due is how long after now Next has more to say, though nothing is answered; -1 for never.
func (g *Gatherer) Due(now record.Instant, waiting int) time.Duration {
	if waiting > 0 && !g.turned && g.held > 0 {
		return max(g.held.Add(hold).Sub(now), 0)
	}
	if waiting == 0 || !g.turned || g.alone > 0 || g.together > 0 {
		return -1
	}
	return max(g.until.Sub(now), 0)
}

// Await is how long n writes that never go alone wait now for others, while nothing is under way.
// With 0 they go.
func (g *Gatherer) Await(now record.Instant, n int) time.Duration {
	if n >= fewest {
		return 0
	}
	return max(g.rested.Sub(now), 0)
}

// AsOne reports whether n writes that go together now may go as records of many. There would be so
// many of these, one after the other, and then a batch of the rest. Only the first record goes now.
func (g *Gatherer) AsOne(now record.Instant, records, rest, n int) bool {
	if !g.cost.known(now) || g.dear > 0 {
		return false
	}
	if !g.ones.known(now) {
		return true
	}
	took := time.Duration(records) * g.ones.fixed.low
	if rest > 0 {
		took += g.cost.of(now, rest)
	}
	return took <= g.cost.of(now, n)
}

// Batch notes that n writes are sent together, each a record of its own.
func (g *Gatherer) Batch(now record.Instant, n int) {
	g.together, g.one, g.sent = n, false, now
}

// One is Batch for writes that are sent as one record, and for one write, which is one.
func (g *Gatherer) One(now record.Instant, n int) {
	g.Batch(now, n)
	g.one = true
	g.lately.add(now, n)
}

// Fate is what became of a batch.
type Fate uint8

const (
	Stored Fate = iota
	Refused
	Silent   // nothing is known of it
	NotTaken // the store takes no batches now
)

// BatchAnswered notes what became of the batch under way. So many writes have come meanwhile.
func (g *Gatherer) BatchAnswered(now record.Instant, f Fate, waiting int) {
	n := g.together
	g.together, g.expected, g.until = 0, 0, now
	switch f {
	case Stored:
		took := now.Sub(g.sent)
		if g.one {
			g.ones.took(now, 0, took) // however many there are
		} else {
			g.cost.took(now, n, took)
			g.rested = now.Add(min(rest*took, calm))
		}
		g.expected, g.until = min(n+waiting, Most), now.Add(took/longer)
	case Silent, NotTaken:
		g.barred = now.Add(quiet)
	}
}

// Ended notes whether a write was refused by its own condition.
func (g *Gatherer) Ended(refused bool) { g.recent.add(refused) }

// pays reports whether n writes are stored clearly sooner together; of more than one batch holds,
// those that it holds.
func (g *Gatherer) pays(now record.Instant, n int) bool {
	n = g.sizes.fit(n)
	cost := g.cost.of(now, n)
	return g.able(now, n) && g.pace.each.low*time.Duration(n) > cost+cost/margin
}

// able reports whether n writes may go together, and the pace of the store is known.
func (g *Gatherer) able(now record.Instant, n int) bool {
	return n >= fewest && now >= g.barred && !g.recent.often() && g.pace.known(now)
}

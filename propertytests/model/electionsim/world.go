package electionsim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rolemanager/rolemanager/propertytests/model/agenda"
)

// world is one schedule under way: virtual time, the store, the processes, and what was seen of
// them.
type world struct {
	plan   *Plan
	rng    *rand.Rand
	draws  *rand.Rand // for what is beside the schedule: it takes nothing from rng
	now    time.Duration
	agenda agenda.Agenda
	store  *store
	gone   []*store // the buckets before it, oldest first
	even   *evenness
	other  *store // another bucket of the same name, to which a connection may lead by mistake
	stray  *store // what a replica shows that has kept what the others have lost, nil: there is none

	members   []*process // the slots of the plan first, duplicates after them
	epochs    map[string]uint64
	granted   map[uint64]*process // by epoch
	overlap   map[[2]uint64]bool  // epochs of two buckets that were believed in at the same time
	sent      map[string]sending  // claims, by token
	expiring  string              // a lease that a marker overwrites right after its next renewal
	unseen    string              // the role whose next leader is lost before others see its claim
	adoptions int
	floors    []uint64 // of the adoptions, in the order of their marks
	doomed    string   // the key whose next record is lost soon, within doom
	doom      time.Duration
	lostAt    time.Duration // when the bucket last lost writes, 0: never
	steeredAt time.Duration // when an operator last told something about a zone or a role
	quiet     bool          // the faults are over
	storm     time.Duration // until then the network is at its worst
	ids       int
	commands  map[int]*question
	resources map[string]*resource // by role
	estates   []*estate            // of sessions that have ended by a missing permission
	led       map[string]bool      // roles in which a term has begun since a leader was crashed in the quiet
	Counts    Counts
	trace     trace
	violated  error
}

func newWorld(plan *Plan) *world {
	return &world{
		plan: plan, rng: rand.New(rand.NewPCG(plan.Seed, 1)), draws: rand.New(rand.NewPCG(plan.Seed, 3)),
		store: newStore(), other: newElsewhere(),
		epochs: map[string]uint64{}, granted: map[uint64]*process{}, overlap: map[[2]uint64]bool{},
		sent: map[string]sending{}, commands: map[int]*question{},
		resources: map[string]*resource{}, led: map[string]bool{}, Counts: newCounts(), even: newEvenness(plan),
	}
}

// at does something at a later moment.
func (w *world) at(t time.Duration, do func()) {
	w.agenda.Add(max(t, w.now), do)
}

func (w *world) after(d time.Duration, do func()) { w.at(w.now+d, do) }

// runUntil lets time pass; it stops early when a promise was broken.
func (w *world) runUntil(t time.Duration) {
	for w.violated == nil {
		if at, ok := w.agenda.Next(); !ok || at > t {
			break
		}
		at, do := w.agenda.Take()
		w.now = at
		do()
	}
	if w.violated == nil {
		w.now = max(w.now, t)
	}
}

func (w *world) chance(perMille int) bool {
	if w.quiet {
		return false
	}
	if w.now < w.storm {
		perMille *= 8
	}
	return perMille > 0 && w.rng.IntN(1000) < perMille
}

// between draws a duration.
func (w *world) between(lo, hi time.Duration) time.Duration {
	return lo + time.Duration(w.rng.Int64N(int64(hi-lo)+1))
}

// violate notes the first broken promise.
func (w *world) violate(format string, args ...any) {
	if w.violated == nil {
		w.violated = fmt.Errorf(format, args...)
	}
}

// newID stands for a UUID.
func (w *world) newID() string {
	w.ids++
	return fmt.Sprintf("id-%d", w.ids)
}

package elections

import (
	"cmp"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

const maxMembers = 3

// World is one state. It is never changed.
type World struct {
	procs  [maxMembers]*memberState
	wires  [maxMembers]*wire
	ahead  [maxMembers]uint8 // of the slowest clock
	passed uint8             // units on the slowest clock since the search began, where they are bounded
	bucket *storeState
	spent  [Faults]uint8
}

// Model is a configuration that can be searched.
type Model struct {
	cfg   *Config
	begun *storeState // what stands when the search begins

	cloner  *snapshot.Cloner
	looker  *snapshot.Looker
	walk    snapshot.Walk
	renamer snapshot.Renamer
	source  *uint64 // of the names that the process takes which is being stepped
	owner   uint64

	processes *snapshot.Table[snapshot.Sum, *memberState]
	wires     *snapshot.Table[snapshot.Sum, *wire]
	buckets   *snapshot.Table[snapshot.Sum, *storeState]
	commits   *snapshot.Table[snapshot.Sum, *wonWrite]
	reactions *snapshot.Table[cause, *reaction]
	later     *snapshot.Table[*memberState, *memberState]
	decoded   *snapshot.Table[[2]string, record.Entry]
}

// room is how many parts of each sort are remembered, twice.
const room = 1 << 17

// New returns the model of a configuration.
func New(c *Config) *Model {
	rules := newRules(c)
	x := &Model{
		cfg: c, cloner: snapshot.NewCloner(rules), looker: snapshot.NewLooker(rules),
		processes: snapshot.NewTable[snapshot.Sum, *memberState](room), wires: snapshot.NewTable[snapshot.Sum, *wire](room),
		buckets:   snapshot.NewTable[snapshot.Sum, *storeState](room),
		commits:   snapshot.NewTable[snapshot.Sum, *wonWrite](room),
		reactions: snapshot.NewTable[cause, *reaction](room), later: snapshot.NewTable[*memberState, *memberState](room),
		decoded: snapshot.NewTable[[2]string, record.Entry](room),
	}
	return x
}

// Start returns the world in which all processes have just started, or, of a settled configuration,
// the one that this leads to when nothing goes wrong; or the promise that was broken on the way
// there.
func (x *Model) Start() ([]World, *search.Violation) {
	for _, told := range []bool{false, true} { // told only if there is something to tell
		s := setup{x: x, w: x.started(), told: told}
		if err := s.settle(); err == nil {
			x.begun = s.w.bucket
			return []World{s.w}, nil
		} else if told {
			return nil, &search.Violation{Err: err, Moves: s.moves, Story: s.story}
		}
	}
	panic("elections: what was broken is well when it is told")
}

func (x *Model) started() World {
	w := World{bucket: x.keepBucket(&storeState{last: firstRevision})}
	for i := range x.cfg.Members {
		w.procs[i] = x.keepProcess(i, &memberState{now: record.Instant(time.Hour)})
		w.wires[i] = x.keepWire(i, &wire{})
		if i > 0 && x.cfg.Apart > 0 {
			continue // see settle
		}
		if err := x.restart(&w, i, i >= x.cfg.Members-x.cfg.Late, nil); err != nil {
			panic(err) // nothing was promised yet
		}
	}
	return w
}

// Fingerprint puts the fingerprints of the parts together, the members that are alike in an order
// that does not depend on their names.
func (x *Model) Fingerprint(w World) uint64 {
	var order, place [maxMembers]uint8
	n := x.cfg.Members
	for i := range order[:n] {
		order[i] = uint8(i)
	}
	slices.SortStableFunc(order[:n], func(i, j uint8) int {
		if !x.cfg.alike(int(i), int(j)) {
			return cmp.Compare(x.cfg.priority(int(i)), x.cfg.priority(int(j)))
		}
		a, b, c, d := w.procs[i].part.Sum, w.procs[j].part.Sum, w.wires[i].part.Sum, w.wires[j].part.Sum
		return cmp.Or(
			cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B), cmp.Compare(c.A, d.A), cmp.Compare(c.B, d.B),
			cmp.Compare(w.ahead[i], w.ahead[j]),
		)
	})
	parts := make([]*snapshot.Part, 0, 2*maxMembers+1)
	parts = append(parts, &w.bucket.part)
	for at, i := range order[:n] {
		place[i] = uint8(at)
		parts = append(parts, &w.procs[i].part, &w.wires[i].part)
	}
	sum := x.renamer.Fingerprint(parts, place[:n])
	for _, i := range order[:n] {
		sum.Word(uint64(w.ahead[i]))
	}
	for _, s := range w.spent {
		sum.Word(uint64(s))
	}
	sum.Word(uint64(w.passed))
	return sum.A ^ sum.B
}

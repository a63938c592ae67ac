package elections

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/race"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/snapshot"
)

// small are two members and one role, with so few faults that there is an end to what a search sees
// which divides everything.
func small(most map[Fault]int, change func(*Config)) Config {
	c := Config{
		Members: 2, Roles: 1, Most: most, Settled: true,
		TTL: 3, Heartbeat: 1, Margin: 1, OpTimeout: 1, MaxTTL: 3, CoolDown: 1, Drain: 3,
	}
	for _, n := range most {
		c.Faults += n
	}
	if change != nil {
		change(&c)
	}
	return c
}

// TestCoarseComesToTheSame: whether everything is divided or not, with the same faults members come
// to the same by all that the promises speak of. And what a coarse search comes to, the other one
// does too, state by state.
func TestCoarseComesToTheSame(t *testing.T) {
	thorough.Only(t, "it searches all states, twice")
	for name, c := range map[string]Config{
		"a crash":               small(map[Fault]int{Crash: 1}, func(c *Config) { c.Gone = true }),
		"an eviction":           small(map[Fault]int{Evict: 1}, func(c *Config) { c.Units = 2 }),
		"a marker over a lease": small(map[Fault]int{WipeLease: 1}, func(c *Config) { c.Units = 1 }),
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			fine := look(t, c)
			c.Coarse = true
			coarse := look(t, c)
			for s := range coarse.states {
				if !fine.states[s] {
					t.Fatal("a coarse state is none when everything is divided")
				}
			}
			none(t, except(fine.promises, coarse.promises))
		})
	}
}

// TestCoarseLosesWhatIsOvertaken: where as many requests and answers may be delayed as something
// overtakes, a coarse search comes to all that the other one does, to the order of the revisions
// and the time that belief has left. With one less it does not, and without any it loses most of
// that.
func TestCoarseLosesWhatIsOvertaken(t *testing.T) {
	thorough.Only(t, "it searches all states, several times")
	for name, x := range map[string]struct {
		Config
		requests, answers, both int
	}{
		"a takeover":  {small(nil, func(c *Config) { c.Crashed, c.Silent, c.Gone, c.Units = true, 2, true, 1 }), 1, 3, 4},
		"an eviction": {small(map[Fault]int{Evict: 1}, func(c *Config) { c.Units = 1 }), 1, 1, 1},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			fine := look(t, x.Config)
			lost := func(overtaken int) map[uint64]string {
				c := x.Config
				c.Most = maps.Clone(x.Most)
				if c.Most == nil {
					c.Most = map[Fault]int{}
				}
				c.Most[DelayRequest], c.Most[DelayReply] = min(x.requests, overtaken), min(x.answers, overtaken)
				c.Faults, c.Coarse = c.Faults+overtaken, true
				return except(fine.records, look(t, c).records)
			}
			for overtaken := range x.both {
				if n := len(lost(overtaken)); n == 0 {
					t.Errorf("with %d delays it loses nothing", overtaken)
				} else {
					t.Logf("with %d delays it loses %d of %d", overtaken, n, len(fine.records))
				}
			}
			none(t, lost(x.both))
		})
	}
}

// TestCoarseFindsWhatIsBroken: with clocks that drift and half the margin that this takes, or none,
// both find the same.
func TestCoarseFindsWhatIsBroken(t *testing.T) {
	for margin := range 2 {
		c := small(map[Fault]int{Pause: 1, DelayRequest: 1, DelayReply: 1}, func(c *Config) {
			c.Faults, c.Lead = 1, 1
			c.TTL, c.Heartbeat, c.Margin, c.MaxTTL, c.Drain = 6, 2, margin, 6, 6
		})
		for _, c.Coarse = range []bool{false, true} {
			r := search.Run(New(&c), search.Bounds{States: 100_000})
			if v := r.Violation; v == nil || !strings.HasPrefix(v.Err.Error(), "I1: the session of ") {
				t.Errorf("margin %d, coarse %t: %v, %+v", margin, c.Coarse, r, v)
			} else {
				t.Logf("margin %d, coarse %t: %v, after %d moves, among %d states", margin, c.Coarse, v.Err, len(v.Moves), r.States)
			}
		}
	}
}

// except are these without those.
func except(these, those map[uint64]string) map[uint64]string {
	rest := maps.Clone(these)
	maps.DeleteFunc(rest, func(view uint64, _ string) bool { _, is := those[view]; return is })
	return rest
}

// none fails if something is lost, and tells some of it.
func none(t *testing.T, lost map[uint64]string) {
	t.Helper()
	for _, text := range slices.Sorted(maps.Values(lost))[:min(3, len(lost))] {
		t.Errorf("one of %d that are lost:\n%s", len(lost), text)
	}
}

// onlooker keeps what a search has come to: all states, and what can be seen of them.
type onlooker struct {
	*Model
	states map[uint64]bool
	// promises is what these speak of: who leads, by which epoch, whose work runs, whose session
	// lives; records is that, with the records in the order in which they were written, and how long
	// belief lasts. Each with one state that has it, told.
	promises, records map[uint64]string
}

// look searches a configuration to its end, in which no promise may be broken.
func look(t *testing.T, c Config) *onlooker {
	t.Helper()
	if race.Enabled {
		t.Skip("nothing here is concurrent, and it takes long")
	}
	o := &onlooker{New(&c), map[uint64]bool{}, map[uint64]string{}, map[uint64]string{}}
	r := search.Run(o, search.Bounds{})
	if r.Violation != nil {
		t.Fatalf("%v\n%s", r.Violation.Err, strings.Join(r.Violation.Story, "\n"))
	}
	t.Logf("coarse %t: %v; %d by their promises, %d by their records", c.Coarse, r, len(o.promises), len(o.records))
	return o
}

// At looks at each state once.
func (o *onlooker) At(w World) uint32 {
	o.states[o.Fingerprint(w)] = true
	o.keep(&w, o.promises, o.promised)
	o.keep(&w, o.records, o.recorded)
	return o.Model.At(w)
}

// keep adds a view of a state. Members that are alike can change places: it is the smaller one of
// both.
func (o *onlooker) keep(w *World, views map[uint64]string, of func(*World, []uint8) uint64) {
	view := min(of(w, []uint8{0, 1}), of(w, []uint8{1, 0}))
	if _, known := views[view]; !known {
		views[view] = o.tell(w)
	}
}

func (o *onlooker) promised(w *World, order []uint8) uint64 {
	o.walk.Begin(0, 0)
	o.lookHeld(w, order)
	return o.view(order)
}

func (o *onlooker) recorded(w *World, order []uint8) uint64 {
	o.walk.Begin(0, 0)
	for _, c := range w.bucket.standing {
		snapshot.Look(o.looker, &o.walk, &c.entry)
	}
	for _, i := range order {
		p := w.procs[i]
		o.walk.Word(uint64(max(p.lease-p.now, 0)))
		o.walk.Word(uint64(max(p.until-p.now, 0)))
	}
	o.lookHeld(w, order)
	return o.view(order)
}

// lookHeld adds what is held by whom, and what the members believe and do.
func (o *onlooker) lookHeld(w *World, order []uint8) {
	walk := &o.walk
	for r := range o.cfg.Roles {
		o.lookRevision(w.bucket.granted[r])
		c := w.bucket.newest(roleKey(r))
		if c == nil {
			walk.Word(0)
			continue
		}
		role := c.entry.Role
		walk.Word(uint64(c.entry.Form) + 1)
		o.lookRevision(c.entry.Revision)
		o.lookRevision(role.Session)
		walk.Flag(role.Vacant)
		walk.Flag(role.Forced)
		if role.ID != "" {
			walk.Name(snapshot.Name{Class: snapshot.Member, Value: uint64(member(role.ID))})
		}
	}
	for _, i := range order {
		p := w.procs[i]
		walk.Flag(p.alive())
		walk.Flag(p.paused)
		o.lookRevision(p.number)
		for r, k := range p.work[:o.cfg.Roles] {
			walk.Flag(p.leads(r))
			walk.Flag(k.runs())
			o.lookRevision(k.epoch)
		}
		if c := w.bucket.newest(leaseKey(int(i))); c != nil {
			walk.Word(uint64(c.entry.Form) + 1)
			walk.Sum.Text(string(c.entry.Lease.State))
			o.lookRevision(c.entry.Lease.Session)
		}
	}
}

func (o *onlooker) view(order []uint8) uint64 {
	place := make([]uint8, len(order))
	for at, i := range order {
		place[i] = uint8(at)
	}
	part := o.walk.Part()
	sum := o.renamer.Fingerprint([]*snapshot.Part{&part}, place)
	return sum.A ^ sum.B
}

func (o *onlooker) tell(w *World) string {
	var b strings.Builder
	for _, c := range w.bucket.standing {
		fmt.Fprintln(&b, c)
	}
	for i, p := range w.procs[:o.cfg.Members] {
		fmt.Fprintf(&b, "%s: alive %t, paused %t, leads %t, work %+v", instance(i), p.alive(), p.paused, p.leads(0),
			p.work[0])
		for _, f := range w.wires[i].flights {
			fmt.Fprintf(&b, ", under way (%d) %s", f.stage, f.letter)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}

package protocol

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// rig drives a machine by hand against a store that answers at once, or, muted, not at all.
type rig struct {
	t     *testing.T
	m     *Machine
	now   record.Now
	rev   uint64
	n     int
	effs  []Effect
	mute  bool // store unreachable: writes stay unanswered
	pend  []Write
	width Widen // of its watch
	wants Widen // of it
	keeps bool  // the watch as it is
	keys  map[string]record.Entry
}

func newRig(t *testing.T, mod func(*Config)) *rig {
	g := &rig{t: t, rev: 1000, now: record.Now{Holder: 1e12, Observer: 1e12}}
	cfg := Config{
		Instance: "a", Key: "k", TTL: 6 * time.Second, Heartbeat: time.Second, OpTimeout: time.Second,
		Margin: time.Second, Grace: 20 * time.Second, Delta: 10 * time.Millisecond, Drain: 5 * time.Second,
		CoolDown: 10 * time.Second,
		MaxTTL:   2 * time.Minute, IdleFactor: 3, NewID: func() string { g.n++; return fmt.Sprint("id", g.n) },
		Rand: func() float64 { return .5 },
	}
	if mod != nil {
		mod(&cfg)
	}
	g.m = New(cfg)
	g.step(WatchReset{})
	g.step(SnapshotDone{})
	return g
}

func (g *rig) step(ev Event) []Effect {
	out := g.m.Step(g.now, ev, nil)
	g.effs = append(g.effs, out...)
	for _, e := range out {
		if w, ok := e.(Widen); ok {
			if g.wants = w; !g.keeps {
				g.watch(w)
			}
		}
		if w, ok := e.(Write); ok {
			if g.mute {
				g.pend = append(g.pend, w)
				continue
			}
			g.win(w, true)
		}
	}
	return out
}

func (g *rig) win(w Write, deliver bool) {
	g.rev++
	rev := g.rev
	g.step(Written{ID: w.ID, Outcome: record.Won, Revision: rev})
	e := record.Decode(w.Key, w.Value, rev, w.Delete, g.m.cfg.MaxTTL)
	g.stands(w.Key, e)
	if deliver && g.shows(&e) {
		g.step(Delivered{&e})
	}
}

func (g *rig) stands(key string, e record.Entry) {
	if g.keys == nil {
		g.keys = map[string]record.Entry{}
	}
	g.keys[key] = e
}

// watch makes a new watch, which shows what stands.
func (g *rig) watch(width Widen) {
	g.width = width
	g.step(WatchReset{Wide: width.All, OwnIdle: width.OwnIdle})
	shown := slices.SortedFunc(maps.Values(g.keys), func(a, b record.Entry) int {
		return cmp.Compare(a.Revision, b.Revision)
	})
	for _, e := range shown {
		if g.shows(&e) {
			g.step(Delivered{&e})
		}
	}
	g.step(SnapshotDone{})
}

func (g *rig) shows(e *record.Entry) bool {
	return e.Kind != record.KindOther &&
		(g.width.All || e.Kind != record.KindIdle || g.width.OwnIdle && e.Peer == g.m.self.Peer)
}

func (g *rig) run(d time.Duration, every func()) {
	end := g.now.Holder.Add(d)
	for g.now.Holder < end {
		g.now.Holder += record.Instant(10 * time.Millisecond)
		g.now.Observer += record.Instant(10 * time.Millisecond)
		if every != nil {
			every()
		}
		g.step(Tick{})
	}
}

func (g *rig) done(id CommandID) (Done, bool) {
	for _, e := range g.effs {
		if d, ok := e.(Done); ok && d.ID == id {
			return d, true
		}
	}
	return Done{}, false
}

func (g *rig) begin(name string) BeginTerm {
	for _, e := range g.effs {
		if b, ok := e.(BeginTerm); ok && b.Role == name {
			return b
		}
	}
	g.t.Fatal("no term")
	return BeginTerm{}
}

// expire: unanswered writes end Unknown after OpTimeout
func (g *rig) outage() func() {
	at := map[WriteID]record.Instant{}
	return func() {
		keep := g.pend[:0:0]
		old := g.pend
		g.pend = nil
		for _, w := range old {
			if at[w.ID] == 0 {
				at[w.ID] = g.now.Holder
			}
			if g.now.Holder.Sub(at[w.ID]) >= time.Second {
				g.step(Written{ID: w.ID, Outcome: record.Unknown})
			} else {
				keep = append(keep, w)
			}
		}
		g.pend = append(keep, g.pend...)
	}
}

// TestCommandsEndInAnOutage: a process that leaves or steps down is answered once the session is
// lost, though nothing can be written.
func TestCommandsEndInAnOutage(t *testing.T) {
	for _, cause := range []string{"leave", "stepdown"} {
		t.Run(cause, func(t *testing.T) {
			g := newRig(t, func(c *Config) { c.CoolDown = time.Second })
			g.step(Join{RoleConfig{Name: "r"}})
			g.run(3*time.Second, nil)
			b := g.begin("r")
			g.mute = true
			g.step(Connection{Up: false})
			g.run(time.Second, g.outage())
			if cause == "leave" {
				g.step(Leave{ID: 7, Role: "r", Vacate: true})
			} else {
				g.step(StepDown{ID: 7, Role: "r"})
			}
			g.step(Drained{"r", b.Epoch})
			g.run(10*time.Minute, g.outage())
			_, ok := g.done(7)
			var lost []Effect
			for _, e := range g.effs {
				if l, is := e.(Lost); is {
					lost = append(lost, l)
				}
			}
			t.Logf("answered=%v lost=%v status=%+v next=%v", ok, lost, g.m.Status("r"), g.m.Next(g.now))
			if !ok {
				t.Error("command not answered 10 minutes after the session was lost")
			}
		})
	}
}

// TestRotationIsNoDisproof: a proof that our own rotation has overtaken is made once more, at the
// new epoch.
func TestRotationIsNoDisproof(t *testing.T) {
	g := newRig(t, func(c *Config) { c.Rotation = 30 * time.Second })
	g.step(Join{RoleConfig{Name: "r"}})
	g.run(3*time.Second, nil)
	b := g.begin("r")
	// hold everything from just before the rotation
	for g.now.Holder < 1e18 {
		g.now.Holder += record.Instant(10 * time.Millisecond)
		g.now.Observer += record.Instant(10 * time.Millisecond)
		g.mute = g.m.part("r").term.rotateAt.Sub(g.now.Observer) <= 10*time.Millisecond
		g.step(Tick{})
		if g.mute {
			break
		}
	}
	g.run(30*time.Millisecond, nil)
	var rot, beat *Write
	g.step(Validate{ID: 9, Role: "r"})
	for i := range g.pend {
		switch g.pend[i].Key {
		case "c.role.r":
			rot = &g.pend[i]
		case "c.lease.a":
			beat = &g.pend[i]
		}
	}
	t.Logf("pend %v", len(g.pend))
	if rot == nil || beat == nil {
		t.Fatal("no rotation or beat", g.pend)
	}
	r, bt := *rot, *beat
	g.pend = nil
	g.win(bt, true)
	for len(g.pend) > 0 && g.pend[0].Key == "c.lease.a" {
		next := g.pend[0]
		g.pend = nil
		g.win(next, true) // beat acked: proof goes out guarded by the old epoch
	}
	if len(g.pend) == 0 || g.pend[0].GuardRevision != b.Epoch {
		t.Fatal("no proof", g.pend)
	}
	proof := g.pend[0]
	g.win(r, true) // the server had the rotation first: won
	g.step(Written{ID: proof.ID, Outcome: record.Refused})
	d, _ := g.done(9)
	t.Logf("done=%+v status=%+v", d, g.m.Status("r"))
	if !g.m.Status("r").Leading {
		t.Error("our own rotation made Validate end an uninterrupted term")
	}
}

// TestIdlePaceCountsTheLiving: closed sessions, which stand for a day, do not slow the idle beat.
func TestIdlePaceCountsTheLiving(t *testing.T) {
	g := newRig(t, nil)
	for i := range 3000 { // 3000 restarts with generated ids within 24 h
		g.rev++
		g.step(Delivered{&record.Entry{
			Kind: record.KindLease,
			Peer: record.Peer{Class: record.Candidate, Instance: fmt.Sprint("old", i)}, Revision: g.rev, Form: record.FormRecord,
			Lease: record.Lease{V: 1, Session: 1, State: record.Closed},
		}})
	}
	g.run(20*time.Second, nil)
	iv, ttl := g.m.pace(false)
	if want, _ := g.m.cfg.idlePace(1); iv != want {
		t.Errorf("alone, it beats every %v for %v, want every %v", iv, ttl, want)
	}
}

// TestIdlePaceCountsWorkers: a process that sees the workers says in its lease how many they are,
// and all that have nothing to do make room for them, the workers too, which do not see each other.
// A session that has ended is not counted, nor believed.
func TestIdlePaceCountsWorkers(t *testing.T) {
	lease := func(g *rig, p record.Peer, l record.Lease) {
		g.rev++
		l.V, l.Nonce, l.TTLms, l.Beat = record.Version, "x", time.Minute.Milliseconds(), 1
		g.step(Delivered{&record.Entry{Kind: record.KindLease, Peer: p, Revision: g.rev, Form: record.FormRecord, Lease: l}})
	}
	sees := newRig(t, nil)
	for i := range 903 {
		l := record.Lease{State: record.Idle}
		if i < 3 {
			l.State = record.Closed
		}
		lease(sees, record.Peer{Class: record.Worker, Instance: fmt.Sprint("w", i)}, l)
	}
	sees.step(Busy{true}) // as who hands out work is: only a session that works, or leads, sees all workers
	sees.run(10*time.Second, nil)
	if got := sees.m.self.Lease.Workers; got != 900 {
		t.Errorf("it says that it sees %d workers, of 900", got)
	}
	for _, class := range []record.Class{record.Candidate, record.Worker} {
		g := newRig(t, func(c *Config) { c.Class = class })
		lease(g, record.Peer{Class: record.Candidate, Instance: "scheduler"}, record.Lease{State: record.Live, Workers: 900})
		lease(g, record.Peer{Class: record.Candidate, Instance: "closed"}, record.Lease{State: record.Closed, Workers: 9000})
		g.run(30*time.Second, nil)
		candidates := 1
		if class == record.Candidate {
			candidates++
		}
		if g.m.self.Lease.Workers != 0 {
			t.Errorf("%v: it says that it sees %d workers, and sees none", class, g.m.self.Lease.Workers)
		}
		all := time.Duration(candidates + 900)
		if iv, _ := g.m.pace(false); iv < all*time.Second/50 {
			t.Errorf("%v: one of %d idle members beats every %v", class, all, iv)
		}
		// Nobody says so any more.
		lease(g, record.Peer{Class: record.Candidate, Instance: "scheduler"}, record.Lease{State: record.Live})
		iv, _ := g.m.pace(false)
		if want, _ := g.m.cfg.idlePace(candidates); iv != want {
			t.Errorf("%v: one of %d idle members beats every %v, want %v", class, candidates, iv, want)
		}
	}
}

// TestLeaveWithAnOpenClaim: a claim without an answer, then the session is lost: leaving the role
// ends all the same.
func TestLeaveWithAnOpenClaim(t *testing.T) {
	for _, late := range []time.Duration{100 * time.Millisecond, 3 * time.Second, 5500 * time.Millisecond} {
		g := newRig(t, func(c *Config) { c.CoolDown = time.Second; c.Grace = 2 * time.Second })
		g.step(Join{RoleConfig{Name: "x"}})
		g.run(3*time.Second, nil)
		g.mute = true
		g.step(Join{RoleConfig{Name: "r"}})
		g.step(Connection{Up: false})
		g.run(late, g.outage())
		g.step(Leave{ID: 7, Role: "r", Vacate: true})
		g.run(10*time.Minute, g.outage())
		_, ok := g.done(7)
		t.Logf("late %v answered=%v %+v", late, ok, g.m.part("r"))
		if !ok {
			t.Error("leave not answered")
		}
	}
}

package electionsim

import (
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/ending"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// process is a machine and its driver: it carries effects out with delays, loses them, stops and
// continues.
type process struct {
	w        *world
	slot     int
	instance string
	plan     *MemberPlan
	cfg      protocol.Config

	book ending.Book // of its guard

	life  int // counts its starts; what an earlier life had under way reaches it no more
	alive bool
	since time.Duration // when its present life began, or the last one ended
	m     *protocol.Machine
	skewed
	out []protocol.Effect

	paused  bool
	heard   []protocol.Event // while paused: what the watch delivered, and the rest
	waiting []protocol.Event

	link          bool          // packets go through
	deaf          bool          // but no reply does
	elsewhere     bool          // they go to another bucket of the same name
	strayed       bool          // they have, in this life
	muteFor       time.Duration // from the next idle beat on no beat is answered, for so long
	muteUntil     time.Duration // until then none is
	feed          *feed
	opened        *store        // the bucket that was there at its start
	identity      int           // which it had then
	returning     bool          // its session ended with the bucket; somebody starts it again
	unheard       []func(error) // writes that nobody received, and are asked about: told what has become of them
	blind         time.Duration // until then no watch delivers anything, nor does a new one
	building      int
	rebuilds      int            // the new watches without the present one
	width         protocol.Widen // that its machine wants of its watch
	snapshots     int            // complete ones that the machine was told of
	shownAt       time.Duration  // when the last of what the watch has shown was written
	partial       bool           // a snapshot is being told, which takes no time here
	mistakenAt    time.Duration  // when what it has was last taken for something that is lost, 0: never
	beatLostAt    time.Duration  // when a beat of its session was last lost, 0: none
	timer         int
	elsewhereTerm elsewhereTerm
	idle          int // ticks in a row that came at once

	until    time.Duration // belief ends then, by its own clock and as told by the last step
	session  uint64
	workload int    // asked of it
	working  uint64 // the session under which it has begun with them, 0: none
	closing  bool
	work     map[string]*work
	busy     []*work                  // of earlier terms too, until drained
	joined   map[string]bool          // roles it takes part in
	away     map[string]time.Duration // roles that it does not, until then
	claims   map[string]claim         // by token
	below    map[uint64]bool          // where writes over nothing have won below what it knew
	unread   bool                     // it has found a lease gone, or could not read it
	// at which step its machine was shown a record of a role, or any since the bucket has lost some
	told    map[*record.Entry]int
	highest map[string]uint64 // the highest revision of those, by role
	blamed  map[uint64]bool   // the leases that it has said not to answer, by revision
	beats   map[protocol.WriteID]*landing
	latest  map[string]protocol.WriteID // the last write of each key
	flying  map[string]int              // writes of roles on their way, by key
	flown   map[string]bool             // the keys of claims that are on their way together
	flies   protocol.WriteID            // that of them, 0: there are none
	lonely  map[string]bool             // tokens of claims that went together and have no answer
	halved  map[string]int              // among how many a claim may go that was refused, by token
	second  time.Duration               // the present second, and what was done in it
	ticks   int
	writes  int
	steady  int // beats since the quiet window began
	other   int // other writes since then
}

// work is what a term runs.
type work struct {
	role     string
	term     uint64
	epoch    uint64
	session  uint64
	leading  bool
	drained  bool
	stuck    bool
	in       *store // where it was granted
	records  []*commit
	rotating bool          // a rotation of it was sent, and it does not continue by that yet
	lostAt   time.Duration // when its record was lost, 0: it stands
	token    string        // of the claim that began it
	under    uint64        // the term elsewhere that it depends on, 0: none
	shows    string        // the token of its present epoch
}

type claim struct{ unknown bool }

// sending is at which step a claim was first sent, and what its sender is shown, before that and
// after.
type sending struct {
	at     int
	when   time.Duration
	known  uint64 // the highest revision that its sender knew then
	misled record.Peer
	told   map[*record.Entry]int
}

type landing struct{ landed, unknown bool }

func (w *world) newProcess(slot int, instance string, plan *MemberPlan) *process {
	p := &process{w: w, slot: slot, instance: instance, plan: plan, away: map[string]time.Duration{}}
	w.members = append(w.members, p)
	return p
}

// start begins a life: a new machine that knows nothing.
func (p *process) start() {
	w := p.w
	if w.store.deleted || w.store.mark != 0 { // it says so, and is started again
		w.after(w.between(50*time.Millisecond, 500*time.Millisecond), p.restart)
		return
	}
	p.opened, p.identity, p.returning, p.unheard = w.store, w.store.identity, false, nil
	p.life++
	p.since = w.now
	p.alive, p.link, p.paused, p.elsewhere, p.strayed = true, true, false, false, false
	p.heard, p.waiting, p.blind, p.muteUntil, p.deaf = nil, nil, 0, 0, false
	p.skewed = skewed{base: int64(time.Hour) * int64(len(w.members)*100+p.life), ppm: p.plan.Rate}
	p.book = ending.Book{}
	p.until, p.session, p.snapshots, p.shownAt, p.unread = 0, 0, 0, 0, false
	p.workload, p.working, p.closing, p.width = 0, 0, false, protocol.Widen{}
	p.work, p.claims, p.beats = map[string]*work{}, map[string]claim{}, map[protocol.WriteID]*landing{}
	p.latest, p.below = map[string]protocol.WriteID{}, map[uint64]bool{}
	p.flying, p.halved = map[string]int{}, map[string]int{}
	p.flown, p.lonely, p.flies = map[string]bool{}, map[string]bool{}, 0
	p.busy, p.joined, p.told = nil, map[string]bool{}, map[*record.Entry]int{}
	p.highest, p.beatLostAt, p.mistakenAt = map[string]uint64{}, 0, 0
	p.blamed = map[uint64]bool{}
	ttl, class := p.plan.TTL, record.Candidate
	if p.plan.Worker {
		class = record.Worker
	}
	p.cfg = protocol.Config{
		Instance: p.instance, Class: class, Key: "key", TTL: ttl, Heartbeat: ttl / 5, OpTimeout: ttl / 10, Margin: ttl / 5,
		Grace: ttl * 3 / 5, Delta: 20 * time.Millisecond, Drain: ttl, CoolDown: ttl, Rotation: p.plan.Rotation,
		MaxTTL: MaxTTL, Adopted: w.store.adopted, IdleFactor: 3, Retention: retention, NewID: w.newID,
		Rand: w.rng.Float64, Capacity: p.plan.Capacity, MaxRoles: p.plan.MaxRoles,
		Zone: p.plan.Zone,
	}
	// Else a role that is unplaced, paused or waits for another one is kept for ever, by writes.
	if w.plan.Seed%2 == 0 && p.plan.MaxRoles == 0 && len(w.plan.Zones) == 0 && w.plan.Depending == 0 {
		p.cfg.Vacancy = 2 * MaxTTL
	}
	if w.plan.Seed%3 > 0 {
		p.cfg.Vacancies = -1
	}
	if w.plan.Together {
		p.cfg.Window, p.cfg.Together, p.cfg.TogetherCost = 1, 2, 1
	}
	p.m = protocol.New(p.cfg)
	if !p.plan.Worker {
		for i, priority := range p.plan.Priorities {
			if p.away[roleName(i)] <= w.now {
				p.join(i, priority)
			}
		}
	}
	p.leadElsewhere()
	p.rebuild()
}

// roleNames are names of roles, which most steps of a schedule ask for.
var roleNames = func() (names [64]string) {
	for i := range names {
		names[i] = fmt.Sprintf("r%d", i)
	}
	return names
}()

func roleName(i int) string {
	if i < len(roleNames) {
		return roleNames[i]
	}
	return fmt.Sprintf("r%d", i)
}

func (p *process) join(i, priority int) {
	if p.plan.Without&(1<<i) != 0 {
		return
	}
	p.joined[roleName(i)] = true
	role := protocol.RoleConfig{
		Name: roleName(i), Priority: int32(priority), Takeover: p.plan.Takeover, VacateUndrained: p.plan.VacateUndrained,
		Zones: p.w.plan.Zones, FailBack: p.w.plan.FailBack,
	}
	p.w.plan.spread(&role)
	if p.w.depends(role.Name) {
		role.Condition, role.WaitsFor = conditionID, "elsewhere"
	}
	p.hand(protocol.Join{Role: role})
}

// stop ends a life: a crash, or the end of the machine. Its writes may still land.
func (p *process) stop() {
	p.alive, p.feed, p.until, p.working = false, nil, 0, 0
	p.since = p.w.now
	p.life++
}

// hear and hand bring an event of the watch, or another one, to the machine, now or when it
// continues
// .
func (p *process) hear(ev protocol.Event) {
	if p.paused {
		p.heard = append(p.heard, ev)
		return
	}
	p.step(ev)
}

func (p *process) hand(ev protocol.Event) {
	if p.paused {
		p.waiting = append(p.waiting, ev)
		return
	}
	p.step(ev)
}

// proceed ends a pause: whatever came meanwhile is taken in the order of its source, and the
// sources in any order.
func (p *process) proceed() {
	p.paused, p.elsewhereTerm.awake = false, p.w.now
	heard, waiting := p.heard, p.waiting
	p.heard, p.waiting = nil, nil
	for len(heard)+len(waiting) > 0 {
		from := &heard
		if len(heard) == 0 || len(waiting) > 0 && p.w.rng.IntN(2) == 0 {
			from = &waiting
		}
		ev := (*from)[0]
		*from = (*from)[1:]
		p.hand(ev)
	}
	if p.alive {
		p.arm()
	}
}

// step hands one event to the machine and carries out what it wants.
func (p *process) step(ev protocol.Event) {
	w := p.w
	if !p.alive || w.violated != nil {
		return
	}
	w.Counts.Steps++
	now := p.now(w.now)
	w.trace.add(w.now, p, "", ev)
	p.checkDue()
	p.hearElsewhere(ev)
	p.learn(ev)
	p.notes(ev)
	p.out = p.m.Step(now, ev, p.out[:0])
	for _, e := range p.out {
		p.execute(e)
	}
	p.checkShown(ev)
	if p.alive {
		p.believe()
		p.checkDepends()
		p.takeUp()
		p.arm()
	}
}

// learn notes what the machine is shown of the bucket.
func (p *process) learn(ev protocol.Event) {
	switch ev := ev.(type) {
	case protocol.WatchReset:
		p.partial = true
	case protocol.SnapshotDone:
		p.partial = false
		p.snapshots++
	case protocol.Delivered:
		p.sees(ev.Entry)
		if ev.Kind == record.KindRole {
			p.highest[ev.Name] = max(p.highest[ev.Name], ev.Revision)
		} else if p.w.lostAt == 0 {
			return // nobody asks
		}
		if _, before := p.told[ev.Entry]; !before {
			p.told[ev.Entry] = p.w.Counts.Steps
		}
	}
}

// arm sets the timer for what the machine wants next; a timer is a little late, and stands still
// through a suspend.
func (p *process) arm() {
	w := p.w
	p.timer++
	wait := p.m.Next(p.now(w.now))
	if wait > time.Hour {
		return
	}
	if wait == 0 {
		if p.idle++; p.idle > 3 {
			w.violate("%s: Next stays 0 without progress", p)
			return
		}
	} else {
		p.idle = 0
	}
	timer, life := p.timer, p.life
	w.after(p.lasts(wait)+w.between(1, tick), func() {
		if p.timer != timer || p.life != life || p.paused {
			return
		}
		p.count(&p.ticks)
		p.step(protocol.Tick{})
	})
}

// count bounds what one process does in one second: no loop may run hot, whatever happens.
func (p *process) count(what *int) {
	if second := p.w.now.Truncate(time.Second); second != p.second {
		p.second, p.ticks, p.writes = second, 0, 0
	}
	*what++
	if p.ticks > 400 || p.writes > 150 {
		p.w.violate("%s: a hot loop: %d ticks and %d writes within one second", p, p.ticks, p.writes)
	}
}

func (p *process) peer() record.Peer {
	return record.Peer{Class: p.cfg.Class, Instance: p.instance}
}

func (p *process) String() string { return fmt.Sprintf("%s/%d.%d", p.instance, p.slot, p.life) }

package tasksim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

type kindOf uint8

const (
	leaseRecord kindOf = iota
	memberRecord
	roleRecord
	deathRecord // a session was killed or closed
	toldRecord  // a worker says what it holds
	wiped       // somebody has removed the lease and the member record of a session
)

// entry is one entry of the bucket's log; its revision is its place, from 1.
type entry struct {
	kind     kindOf
	revision uint64
	p        *participant
	session  uint64
	draining bool // of a member record: the session is about to be closed
	closed   bool // of a death: by its own process, and nothing of it is at work
	told     *tasks.Told
}

// bucket is the one order of everything that is said about sessions and roles.
type bucket struct {
	log     []entry
	base    int // what stands before that was in a bucket that is gone, see remake
	dead    map[uint64]bool
	workers map[uint64]*worker // by their sessions
}

// append writes a record, and lets every view have it after a while.
func (w *taskWorld) append(kind kindOf, p *participant, session uint64) uint64 {
	revision := uint64(len(w.bucket.log) + 1)
	if kind == leaseRecord {
		session = revision
	}
	w.bucket.log = append(w.bucket.log, entry{kind: kind, revision: revision, p: p, session: session})
	w.tell(w.Trace, "bucket %d: %s of %s, session %d", revision,
		[...]string{"lease", "member", "role", "death", "word", "removal"}[kind], p.name, session)
	if kind == deathRecord {
		if w.bucket.dead == nil {
			w.bucket.dead = map[uint64]bool{}
		}
		w.bucket.dead[session] = true
	}
	for _, o := range w.procs {
		w.after(w.upTo(o.lag), func() { o.does(func() { o.see(int(revision)) }) })
	}
	return revision
}

// participant is one member: a session, a view, a worker, and now and then a term.
type participant struct {
	w          *taskWorld
	name       string
	campaigns  bool
	lag        time.Duration // of its view, at most
	skew       time.Duration // of its clock
	rate       float64       // by how much that clock is fast
	old        bool          // it cannot read what a later version has written
	leadsOther bool          // another role, all the time
	former     bool          // it is of an earlier build, and cannot decode some inputs
	up         bool
	cut        bool
	deaf       deafness
	stopped    bool     // see pause
	held       []func() // what waits until it continues
	session    uint64
	belief     uint64 // counts the ends of belief, so that an old deadline means nothing
	base       int    // of the bucket that it watches
	seen       int    // how much of the log its view has
	reachable  int    // how much it could have, were it not cut off

	epoch   uint64 // of the leader in view, 0: nobody
	highest uint64 // of any role record in view
	epochs  epochs // the same, counted by the checks
	holder  uint64 // the session of the leader in view
	deaths  map[uint64]bool
	open    bool // its own member record is in view
	work    *worker
	term    *lead
}

// join opens a session.
func (p *participant) join() {
	if p.cut || p.stopped || p.session != 0 {
		return
	}
	w := p.w
	p.up = true
	p.watch()
	p.session = w.append(leaseRecord, p, 0)
	w.builds[p.session] = p.build()
	p.open = false
	p.work = newWorker(p)
	if w.bucket.workers == nil {
		w.bucket.workers = map[uint64]*worker{}
	}
	w.bucket.workers[p.session] = p.work
	session := p.session
	w.after(time.Millisecond+w.upTo(w.Delay), func() {
		p.does(func() {
			if p.session == session && !w.gone(session) {
				w.append(memberRecord, p, session)
				p.seeOwn(session)
			}
		})
	})
}

// seeOwn lets a worker that does not campaign have its own member record. It comes by a watch of
// its own, in no order with what the other watch shows of the role.
func (p *participant) seeOwn(session uint64) {
	p.w.after(p.w.upTo(p.lag), func() {
		p.does(func() {
			switch {
			case p.campaigns || p.session != session:
			case p.cut:
				p.seeOwn(session)
			default:
				p.open = true
			}
		})
	})
}

// see lets the view have the log up to n. A process that is cut off sees nothing.
func (p *participant) see(n int) {
	if p.base != p.w.bucket.base {
		return // its watch is of one that is gone
	}
	p.reachable = max(p.reachable, n)
	if p.cut || !p.up {
		return
	}
	p.catchUp()
}

func (p *participant) catchUp() {
	if p.deaths == nil {
		p.deaths = map[uint64]bool{}
	}
	before, outlived := p.seen, false
	epoch := p.epoch
	for p.seen < p.reachable {
		r := p.w.bucket.log[p.seen]
		p.seen++
		switch r.kind {
		case memberRecord:
			p.open = p.open || p.campaigns && r.session == p.session
		case roleRecord:
			p.highest, p.epoch, p.holder = r.revision, r.revision, r.session
		case deathRecord:
			p.deaths[r.session] = true
			outlived = outlived || r.session == p.session
		}
	}
	if outlived {
		p.outlive()
	}
	if p.deaths[p.holder] {
		p.epoch = 0
	}
	if before == p.seen {
		return
	}
	if p.epoch != epoch && p.epoch != 0 && p.work != nil {
		p.work.follows()
		p.work.newLeader()
	}
	for _, l := range p.w.leads {
		if l.p == p {
			l.members()
		}
	}
}

// lapse ends belief in the session: the worker cancels what runs, the scheduler stops.
func (p *participant) lapse() {
	if p.session == 0 {
		return
	}
	p.belief++
	p.session = 0
	if p.work != nil {
		p.work.abandon()
		p.work = nil
	}
	if p.term != nil && !p.term.stubborn {
		p.term.stop()
	}
	p.term = nil
}

// crash ends a process at once; its session is killed when its lease has run out.
func (p *participant) crash() {
	w, session := p.w, p.session
	w.Crashes++
	for _, l := range w.leads {
		if l.p == p {
			l.stop()
		}
	}
	p.lapse()
	p.up, p.cut, p.stopped, p.held = false, false, false, nil
	if session != 0 {
		wipes := w.Wiped > 0 && w.chance(w.Wiped)
		w.after(w.lasts(session)+w.Lease+w.upTo(w.Lease/2), func() {
			if wipes && w.wipe(p, session) {
				return
			}
			w.bury(p, session)
		})
	}
	w.after(w.upTo(4*w.Lease), func() {
		p.base = -1
		p.watch()
		p.up = true
		p.see(len(w.bucket.log))
		p.join()
	})
}

func (w *taskWorld) bury(p *participant, session uint64) {
	if !w.bucket.dead[session] && !w.gone(session) {
		w.append(deathRecord, p, session)
	}
}

// close ends a session in which nothing is at work any more.
func (w *taskWorld) close(p *participant, session uint64) {
	if !w.bucket.dead[session] && !w.gone(session) {
		w.bucket.log[w.append(deathRecord, p, session)-1].closed = true // nobody has read it yet
	}
}

// sever cuts a process off for a while. Its belief ends before others may kill its session.
func (p *participant) sever(d time.Duration) {
	w := p.w
	w.Cuts++
	p.cut = true
	p.expire(func() bool { return p.cut })
	w.after(d, func() {
		p.cut = false
		if p.up {
			p.does(func() {
				p.see(len(w.bucket.log))
				p.rejoin()
			})
		}
	})
}

// expire ends belief in the session of one who no longer beats, if nothing has changed by then; and
// a while later the session.
func (p *participant) expire(still func() bool) {
	w, session, belief := p.w, p.session, p.belief
	since := w.upTo(w.Lease / 4) // since its last beat
	left := time.Duration(float64(w.Lease*4/5-since) / (1 + p.rate))
	w.after(left, func() {
		if still() && p.belief == belief && p.session == session {
			w.Abandoned++
			p.lapse()
			w.after(w.Lease-left+w.upTo(w.Lease/2), func() { w.bury(p, session) })
		}
	})
}

// rejoin opens a new session when the last one is gone.
func (p *participant) rejoin() {
	if p.up && p.session == 0 && !p.cut {
		p.join()
	}
}

// govern grants the role when its holder is dead, and now and then while it lives: that one
// continues for a while. Now and then it is rotated.
func (w *taskWorld) govern() {
	w.after(w.Lease/4+w.upTo(w.Lease/4), w.govern)
	holder := uint64(0)
	var by *participant
	for i := len(w.bucket.log) - 1; i >= w.bucket.base && by == nil; i-- {
		if r := w.bucket.log[i]; r.kind == roleRecord {
			holder, by = r.session, r.p
		}
	}
	alive := by != nil && !w.bucket.dead[holder]
	depose := alive && (w.due || !w.calm && w.chance(w.Deposed))
	if alive && !depose {
		if t := by.term; t != nil && t.session == holder && t.able() && !by.cut && !by.stopped && !w.calm &&
			w.chance(w.Rotated) {
			t.rotate()
		}
		return
	}
	var able []*participant
	for _, p := range w.procs {
		if p.campaigns && p.up && !p.cut && !p.stopped && p.session != 0 && !w.gone(p.session) && p.open &&
			!w.bucket.dead[p.session] && (p != by || !alive) {
			able = append(able, p)
		}
	}
	if len(able) == 0 {
		return
	}
	p := able[w.rng.IntN(len(able))]
	if depose {
		w.due = false
		w.Depositions++
		if t := by.term; t != nil { // it does not know yet
			t.stubborn = true
			by.term = nil
			w.after(w.upTo(3*w.Lease), t.stop)
		}
	}
	w.Terms++
	p.work.wakes()
	epoch := w.append(roleRecord, p, p.session)
	if p.term != nil {
		p.term.stop()
	}
	p.term = newLead(p, epoch)
}

// fault does something bad now and then.
func (w *taskWorld) fault() {
	w.after(w.upTo(2*w.Faults), func() {
		if w.calm {
			return
		}
		p := w.procs[w.rng.IntN(len(w.procs))]
		switch {
		case w.Remakes && w.chance(0.1):
			w.remake()
		case w.Deaf && w.chance(0.3):
			w.deafen(p)
		case !p.up || p.cut || p.stopped:
		case w.chance(0.4):
			p.crash()
		case w.chance(0.4):
			p.pause(w.upTo(3 * w.Lease))
		default:
			p.sever(w.upTo(3 * w.Lease))
		}
		w.fault()
	})
}

// restart has the process that leads restarted in peace now and then.
func (w *taskWorld) restart() {
	if w.Rest == 0 {
		return
	}
	w.after(w.upTo(2*w.Rest), func() {
		if w.calm {
			return
		}
		for _, p := range w.procs {
			if p.up && !p.cut && !p.stopped && p.term != nil && !p.term.over && p.work != nil {
				p.work.finish()
			}
		}
		w.restart()
	})
}

// heal ends all faults, and old versions.
func (w *taskWorld) heal() {
	w.calm = true
	for _, p := range w.procs {
		p.cut = false
		if !p.leadsOther {
			p.deaf = hears
		}
		p.goOn()
		if p.old || p.former { // it is replaced by the later version
			p.old, p.former = false, false
			if p.up {
				p.crash()
			}
		}
		if p.up {
			p.see(len(w.bucket.log))
			p.rejoin()
		}
	}
	w.after(w.Lease, func() {
		for _, p := range w.procs {
			p.rejoin()
		}
	})
}

package electionsim

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// strike makes one fault happen.
func (w *world) strike(f Fault) {
	p, role := w.members[f.Who%len(w.members)], roleName(f.Role%w.plan.Roles)
	lease := record.LeaseKey(p.peer())
	w.trace.add(w.now, p, "FAULT", f)
	w.Counts.Faults[f.Kind.String()]++
	switch f.Kind {
	case Recreate:
		w.recreate(f.For)
	case GoBack:
		w.goBack(f)
	case Adopt:
		w.adopt(f)
	case Restore:
		w.restoreAfter(f)
	case LatePurge:
		w.latePurge()
	case RemoveRole:
		w.abandon(role, f.For)
	case Steer:
		w.steer(f, p, role)
	case Blame:
		p.blame()
	case StepClock:
		w.stepClock()
	case Storm:
		w.storm = w.now + f.For
	case Evict:
		w.after(w.between(0, time.Second), w.evictAt(role))
	case DeleteRole:
		if w.store.newest(record.RoleKey(role)) != nil {
			w.committed(w.store.put(w.now, record.RoleKey(role), nil, true))
		}
	case GarbleRole:
		w.committed(w.store.put(w.now, record.RoleKey(role), garbage[w.rng.IntN(len(garbage))], false))
	case ExpireLease:
		w.expire(lease)
	case ExpireRenewal:
		w.expiring = lease
	case GarbleLease:
		if value := garbage[w.rng.IntN(len(garbage))]; !w.outgrown(lease) {
			w.committed(w.store.put(w.now, lease, value, false))
		}
	case Orphan:
		w.orphan(role, f.For)
	case Wipe:
		w.wipe(role, 3*time.Second)
	case Unseen:
		w.unseen = record.RoleKey(role)
	case DeleteMember:
		key := record.MemberKey(p.peer())
		w.committed(w.store.put(w.now, key, garbage[w.rng.IntN(len(garbage))], w.rng.IntN(2) == 0))
	case Duplicate:
		w.newProcess(p.slot, p.instance, w.members[w.rng.IntN(len(w.plan.Members))].plan).start()
	default:
		if p.alive {
			p.suffer(f, role)
		}
	}
}

var garbage = [][]byte{nil, []byte("{"), []byte(`{"v":1}`), []byte(`{"v":1,"id":"x","session":-1}`), []byte("\x00\xff")}

// expire puts a marker over a lease, as a server does whose clock has jumped.
func (w *world) expire(key string) {
	c := w.store.newest(key)
	if c == nil || c.marker || w.outgrown(key) {
		return
	}
	if c.entry.Form == record.FormRecord && c.entry.Lease.Alive() {
		w.Counts.MarkersOverLive++
	}
	w.committed(w.store.put(w.now, key, nil, true))
}

// orphan makes everybody leave a role. Its record continues to name the session in which its leader
// has crashed, while that one is back and does something else, until somebody takes part in the
// role again.
func (w *world) orphan(role string, away time.Duration) {
	c := w.store.newest(record.RoleKey(role))
	if c == nil || c.entry.Form != record.FormRecord || c.entry.Role.Vacant {
		return
	}
	for _, p := range w.members {
		if p.plan.Worker {
			continue
		}
		p.stayAway(role, away+w.between(0, time.Second))
		if !p.alive || p.instance != c.entry.Role.ID {
			continue
		}
		w.Counts.Orphans++
		p.suffer(Fault{Kind: Crash, For: w.between(0, p.plan.TTL)}, role)
		if w.chance(500) {
			p.muteFor = w.between(0, p.plan.TTL)
		}
	}
}

// evictAt is an operator who has just looked, and forces the term at the epoch that was seen.
func (w *world) evictAt(role string) func() {
	c := w.store.newest(record.RoleKey(role))
	return func() {
		if c == nil || c.entry.Form != record.FormRecord || c.entry.Role.Vacant {
			return
		}
		if c := w.store.write(w.now, protocol.Eviction(role, c.entry.Role, c.entry.Revision)); c != nil {
			w.Counts.Evictions++
			w.committed(c)
		}
	}
}

// suffer is a fault of one process, or a command to it.
func (p *process) suffer(f Fault, role string) {
	w, life := p.w, p.life
	later := func(do func()) {
		w.after(f.For, func() {
			if p.life == life {
				do()
			}
		})
	}
	switch f.Kind {
	case Pause, Suspend:
		if p.paused {
			return
		}
		p.paused = true
		later(func() {
			if f.Kind == Suspend {
				p.slept += f.For
			}
			p.proceed()
		})
	case Crash:
		p.crash()
		w.after(f.For, p.restart)
	case Cut:
		p.cut(f.For)
	case StallWatch, KillWatch:
		if p.feed != nil {
			p.feed.stalled, p.feed.dead = w.now+f.For, f.Kind == KillWatch
			p.feed.missHeartbeats()
		}
	case Blind, Deaf:
		p.blind = w.now + f.For
		if f.Kind == Deaf {
			p.deaf = true
			later(func() { p.deaf = false })
		}
		if p.feed != nil {
			p.feed.stalled = p.blind
			p.feed.missHeartbeats()
		}
	case Mute:
		p.muteFor = f.For
	case Deny:
		p.hand(protocol.Broken{Fault: errDenied})
	case Elsewhere:
		p.goElsewhere(f.For)
	case CloseSession:
		p.closing = true
		p.hand(protocol.Close{Timeout: f.For})
		w.after(f.For+time.Second, func() {
			if !p.alive {
				p.restart()
			}
		})
	default:
		p.command(f, role, later)
	}
}

// stayAway leaves a role for so long, whatever happens to the process meanwhile.
func (p *process) stayAway(role string, d time.Duration) {
	w := p.w
	p.away[role] = w.now + d
	if p.alive && p.joined[role] {
		id := w.command(p, func(protocol.Done) {})
		p.hand(protocol.Leave{ID: id, Role: role, Vacate: w.rng.IntN(2) == 0})
		delete(p.joined, role)
	}
	w.after(d, func() {
		for i, priority := range p.plan.Priorities {
			if roleName(i) == role && p.alive && !p.joined[role] && p.away[role] <= w.now {
				p.join(i, priority)
			}
		}
	})
}

func (p *process) restart() {
	if !p.alive {
		p.start()
	}
}

// command is something that a user or an operator asks of a process.
func (p *process) command(f Fault, role string, later func(func())) {
	w := p.w
	if f.Kind == Validate {
		p.prove(role)
		return
	}
	id := w.command(p, func(protocol.Done) {})
	switch f.Kind {
	case StepDown:
		p.hand(protocol.StepDown{ID: id, Role: role})
	case Transfer:
		p.hand(protocol.Transfer{ID: id, Role: role, Target: w.members[w.rng.IntN(len(w.members))].instance})
	case Describe:
		p.hand(protocol.Describe{ID: id, Meta: map[string]string{"n": w.newID()}})
		p.labour(f.For)
	case PauseRole:
		p.hand(protocol.Pause{ID: id, Role: role})
		later(func() { p.hand(protocol.Resume{ID: w.command(p, func(protocol.Done) {}), Role: role}) })
	case Sicken:
		delete(w.commands, int(id))
		p.hand(protocol.Health{Role: role})
		later(func() { p.hand(protocol.Health{Role: role, Healthy: true}) })
	case LeaveRole:
		p.hand(protocol.Leave{ID: id, Role: role, Vacate: w.rng.IntN(2) == 0})
		delete(p.joined, role)
		later(func() {
			if i := f.Role % w.plan.Roles; p.alive && !p.plan.Worker {
				p.join(i, p.plan.Priorities[i])
			}
		})
	}
}

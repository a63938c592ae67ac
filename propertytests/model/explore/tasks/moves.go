package tasks

import "github.com/rolemanager/rolemanager/propertytests/model/explore/search"

// moveKind is what can happen.
type moveKind uint8

const (
	arrives moveKind = iota // a message
	ticks
	reads // what the stream has
	sees  // what the bucket has
	succeeds
	stopsHandler // a handler that was cancelled returns

	flows // a reading that stood still continues
	lands // a message that was late arrives
	wakes // a view that stood still continues
	heals // a link
	lapses
	buried // the session of a member that has none any more is known to be dead
	joins
	elected
	retires // a deposed leader notices
	leaves  // a member that drains closes its session
	passes  // time

	delays
	repeats
	unheard
	lagsView
	lagsReading
	crashes
	cuts
	deposes
	fails
	releases
	renews
	rotates
	rewrites
)

var faultOf = map[moveKind]Fault{
	delays: Delay, repeats: Repeat, unheard: Deaf, lagsView: Lag, lagsReading: Lag, crashes: Crash, cuts: Crash,
	deposes: Depose, fails: Failure, releases: Release, renews: Renew, rotates: Rotate,
	rewrites: Rewrite,
}

func move(v moveKind, who, n int) search.Move { return search.Move(int(v)<<16 | who<<8 | n) }

func parts(m search.Move) (v moveKind, who, n int) {
	return moveKind(m >> 16), int(m>>8) & 255, int(m) & 255
}

// Moves appends all that can happen. A message that is not late is dealt with before anything else.
func (x *Model) Moves(w World, to []search.Move) []search.Move {
	spent := 0
	for _, n := range w.spent {
		spent += int(n)
	}
	fault := func(v moveKind, who, n int) {
		if f := faultOf[v]; spent < x.cfg.Faults && int(w.spent[f]) < x.cfg.Most[f] {
			to = append(to, move(v, who, n))
		}
	}
	for n, m := range w.net.list {
		if m.late {
			continue
		}
		to = append(to, move(arrives, int(m.member), n))
		fault(delays, int(m.member), n)
		if m.kind < writes { // a connection does not repeat what is published
			fault(repeats, int(m.member), n)
		}
		if m.kind == pushes && (w.members[m.member].w == nil || w.members[m.member].cut) {
			fault(unheard, int(m.member), n)
		}
		return to
	}
	begin := len(to)
	to = x.urgent(&w, to)
	if len(to) == begin && x.anybody(&w) {
		to = append(to, move(passes, 0, 0))
	}
	to = x.free(&w, to)
	for k, l := range w.leaders[:w.terms] {
		if l.s == nil {
			continue
		}
		if len(l.feed) > 0 && !l.lags {
			fault(lagsReading, k, 0)
		}
		fault(renews, k, 0)
	}
	for t := range x.cfg.Tasks {
		if x.ahead(&w, t) {
			fault(rewrites, 0, t)
		}
	}
	holder, dead := w.ledger.holder()
	for k, l := range w.leaders[:w.terms] {
		if l.s != nil && l.epoch == holder.revision && !dead && !w.members[l.host].cut {
			fault(rotates, k, 0)
		}
	}
	for i, m := range w.members {
		if m.w == nil {
			continue
		}
		fault(crashes, i, 0)
		if !m.cut {
			fault(cuts, i, 0)
		}
		if m.seen < len(w.ledger.log) && !m.lags {
			fault(lagsView, i, 0)
		}
		for t := range x.cfg.Tasks {
			if m.runs[t].live && !m.runs[t].halted {
				fault(fails, i, t)
				fault(releases, i, t)
			}
		}
		if !dead && holder.session != m.session && !m.cut && w.terms < x.cfg.Leaders {
			fault(deposes, i, 0)
		}
	}
	return to
}

// urgent appends what time waits for.
func (x *Model) urgent(w *World, to []search.Move) []search.Move {
	for k, l := range w.leaders[:w.terms] {
		if l.s == nil || w.members[l.host].cut {
			continue
		}
		if l.tick {
			to = append(to, move(ticks, k, 0))
		}
		if (len(l.feed) > 0 || !l.caughtUp) && !l.lags {
			to = append(to, move(reads, k, 0))
		}
	}
	for i, m := range w.members {
		if m.w == nil {
			continue
		}
		if m.seen < len(w.ledger.log) && !m.lags && !m.cut {
			to = append(to, move(sees, i, 0))
		}
		for t := range x.cfg.Tasks {
			if m.runs[t].halted {
				to = append(to, move(stopsHandler, i, t))
			}
		}
	}
	return to
}

// free appends what may happen or not.
func (x *Model) free(w *World, to []search.Move) []search.Move {
	for n, m := range w.net.list {
		if x.reachable(w, m) {
			to = append(to, move(lands, int(m.member), n))
		}
	}
	holder, dead := w.ledger.holder()
	for k, l := range w.leaders[:w.terms] {
		if l.s != nil && l.lags {
			to = append(to, move(flows, k, 0))
		}
		if l.s != nil && l.epoch != holder.revision {
			to = append(to, move(retires, k, 0))
		}
	}
	for i, m := range w.members {
		if m.last != 0 {
			to = append(to, move(buried, i, 0))
		}
		if m.w == nil {
			to = append(to, move(joins, i, 0))
			continue
		}
		if m.lags {
			to = append(to, move(wakes, i, 0))
		}
		for t := range x.cfg.Tasks { // a handler runs for as long as it likes
			if r := m.runs[t]; r.live && !r.halted {
				to = append(to, move(succeeds, i, t))
			}
		}
		if m.cut {
			to = append(to, move(heals, i, 0), move(lapses, i, 0))
		} else {
			if m.draining {
				to = append(to, move(leaves, i, 0))
			}
			if dead && w.terms < x.cfg.Leaders {
				to = append(to, move(elected, i, 0))
			}
		}
	}
	return to
}

// reachable reports whether a late message would find somebody.
func (x *Model) reachable(w *World, m *message) bool {
	if m.kind == writes || m.kind == outcomes {
		return m.kind == writes || w.leaders[m.leader].s != nil
	}
	if w.members[m.member].w == nil || w.members[m.member].cut {
		return false
	}
	return m.kind > syncs || !w.members[m.member].waits(w.ledger, m)
}

// anybody reports whether there is a leader for whom time may pass.
func (x *Model) anybody(w *World) bool {
	for _, l := range w.leaders[:w.terms] {
		if l.s != nil {
			return true
		}
	}
	return false
}

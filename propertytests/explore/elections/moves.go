package elections

import "github.com/rolemanager/rolemanager/propertytests/explore/search"

// verb is what can happen.
type verb uint8

const (
	// What happens by itself, before time goes on.
	ticks verb = iota
	land
	reply
	timeout
	deliver
	flows // a watch that has stalled goes on, with or without what was overwritten
	rewatch
	ends // the work of a term
	askArrives
	askReturns
	resume
	again // a crashed or closed process is started
	joins // its roles, if it is late

	passes // one unit, on one clock

	// Faults, and what people ask for.
	rewatchLagging
	delayRequest
	delayReply
	stall
	slow
	crash
	pause
	evict
	wipeLease
	wipeRole
	askStepDown
	askClose
)

var faultOf = map[verb]Fault{
	rewatchLagging: LagWatch, delayRequest: DelayRequest, delayReply: DelayReply, stall: StallWatch, slow: SlowDrain,
	crash: Crash, pause: Pause, evict: Evict, wipeLease: WipeLease, wipeRole: WipeRole, askStepDown: StepDown, askClose: Close,
}

func move(v verb, who, n int) search.Move { return search.Move(int(v)<<16 | who<<8 | n) }

func parts(m search.Move) (v verb, who, n int) { return verb(m >> 16), int(m>>8) & 255, int(m) & 255 }

// Moves appends all that can happen.
func (x *Model) Moves(w World, to []search.Move) []search.Move {
	begin := len(to)
	spent := 0
	for _, n := range w.spent {
		spent += int(n)
	}
	if x.cfg.Coarse {
		if i, n, ok := x.first(&w); ok {
			return x.inOneGo(&w, i, n, spent < x.cfg.Faults, to)
		}
	}
	waits := false // time waits for something
	for i := range x.cfg.Members {
		to, waits = x.ordinary(&w, i, to, waits)
	}
	if !waits {
		for i := range x.cfg.Members {
			if w.procs[i].alive() && int(w.ahead[i]) < max(x.cfg.Lead, 1) {
				to = append(to, move(passes, i, 0))
			}
			if x.cfg.Lead == 0 && len(to) > begin && to[len(to)-1] == move(passes, i, 0) {
				break // one move for all of them
			}
		}
	}
	if spent >= x.cfg.Faults {
		return to
	}
	return x.faults(&w, to)
}

// first is a write whose request or answer is under way, and not delayed.
func (x *Model) first(w *World) (i, n int, ok bool) {
	for i := range x.cfg.Members {
		for n, f := range w.wires[i].flights {
			if f.stage == going || f.stage == back && w.procs[i].hears() {
				return i, n, true
			}
		}
	}
	return 0, 0, false
}

// inOneGo appends what can happen to such a write: it goes on, or a fault comes between.
func (x *Model) inOneGo(w *World, i, n int, faulty bool, to []search.Move) []search.Move {
	v, f := land, delayRequest
	if w.wires[i].flights[n].stage == back {
		v, f = reply, delayReply
	}
	to = append(to, move(v, i, n))
	if !faulty {
		return to
	}
	if int(w.spent[faultOf[f]]) < x.cfg.most(faultOf[f]) {
		to = append(to, move(f, i, n))
	}
	if w.procs[i].hears() && int(w.spent[Crash]) < x.cfg.most(Crash) {
		to = append(to, move(crash, i, 0))
	}
	return to
}

// ordinary appends what happens by itself to one process.
func (x *Model) ordinary(w *World, i int, to []search.Move, waits bool) ([]search.Move, bool) {
	p, l := w.procs[i], w.wires[i]
	may := func(v verb, n int, urgent bool) {
		to = append(to, move(v, i, n))
		waits = waits || urgent
	}
	for n, f := range l.flights {
		switch f.stage {
		case going, delayed, orphan:
			may(land, n, f.stage == going)
		case back, backLate:
			if p.hears() {
				may(reply, n, f.stage == back)
			}
		}
		if p.hears() && f.stage != orphan && f.left == 0 {
			may(timeout, n, true)
		}
	}
	switch {
	case !p.alive():
		may(again, 0, false)
		return to, waits
	case p.paused:
		may(resume, 0, false)
		return to, waits
	}
	if p.due {
		may(ticks, 0, true)
	}
	if l.watch == building || l.watch == blind {
		may(rewatch, 0, l.watch == building)
	}
	if len(l.feed) > 0 && l.watch == watching {
		may(deliver, 0, true)
	}
	if l.watch == stalled {
		may(flows, 0, false)
		if l.overwritten() {
			may(flows, 1, false)
		}
	}
	for n, d := range l.drains {
		may(ends, n, !d.slow)
	}
	if !p.joined {
		may(joins, 0, false)
	}
	for n, a := range l.asks {
		switch a.stage {
		case askGoing:
			may(askArrives, n, true)
		case askBack:
			may(askReturns, n, true)
		}
	}
	return to, waits
}

// faults appends what else can happen while there is some left of its kind.
func (x *Model) faults(w *World, to []search.Move) []search.Move {
	may := func(v verb, who, n int) {
		if f := faultOf[v]; int(w.spent[f]) < x.cfg.most(f) {
			to = append(to, move(v, who, n))
		}
	}
	for i := range x.cfg.Members {
		p, l := w.procs[i], w.wires[i]
		for n, f := range l.flights {
			switch f.stage {
			case going:
				may(delayRequest, i, n)
			case back:
				may(delayReply, i, n)
			}
		}
		if x.cfg.most(WipeLease) > 0 {
			if c := w.bucket.newest(leaseKey(i)); c != nil && c.entry.Form == formRecord {
				may(wipeLease, i, 0)
			}
		}
		if !p.hears() {
			continue
		}
		may(crash, i, 0)
		may(pause, i, 0)
		may(askClose, i, 0)
		if len(l.feed) > 0 && l.watch == watching {
			may(stall, i, 0)
		}
		if l.watch == building {
			if w.bucket.before != nil {
				may(rewatchLagging, i, 0)
			}
			may(stall, i, 0)
		}
		for n, d := range l.drains {
			if !d.slow {
				may(slow, i, n)
			}
		}
		for r := range x.cfg.Roles {
			if p.work[r].leading {
				may(askStepDown, i, r)
			}
		}
	}
	for r := range x.cfg.Roles {
		c := w.bucket.newest(roleKey(r))
		if c == nil || c.entry.Form != formRecord {
			continue
		}
		may(wipeRole, 0, r)
		if !c.entry.Role.Vacant {
			may(evict, 0, r)
		}
	}
	return to
}

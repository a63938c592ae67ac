package elections

import (
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/model/explore/search"
)

// verb is what can happen.
type verb uint8

const (
	// Moves that happen by themselves, before time passes.
	ticks verb = iota
	land
	reply
	timeout
	deliver
	flows // a watch that has stalled continues, with or without what was overwritten
	rewatch
	ends // the work of a term
	askArrives
	askReturns
	controlArrives // a request to step down or to transfer
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
	askTransfer
	askClose
	repeatReply
	repeatRequest // refused the second time, which is heard later
	refusedFirst  // which is heard now, and that the first one has won later
	repeatWatch
	repeatQuestion
	repeatAnswer
	repeatControl
)

var faultOf = map[verb]Fault{
	rewatchLagging: LagWatch, delayRequest: DelayRequest, delayReply: DelayReply, stall: StallWatch, slow: SlowDrain,
	crash: Crash, pause: Pause, evict: Evict, wipeLease: WipeLease, wipeRole: WipeRole, askStepDown: StepDown,
	askTransfer: Transfer, askClose: Close, repeatReply: RepeatReply, repeatRequest: RepeatRequest,
	refusedFirst: RepeatRequest,
	repeatWatch:  RepeatWatch, repeatQuestion: RepeatControl, repeatAnswer: RepeatControl, repeatControl: RepeatControl,
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
		if i, n, ok := x.asked(&w); ok {
			if to = append(to, move(controlArrives, i, n)); spent < x.cfg.Faults && x.allowed(&w, RepeatControl) {
				to = append(to, move(repeatControl, i, n))
			}
			return to
		}
	}
	waits := false // time waits for something
	for i := range x.cfg.Members {
		to, waits = x.ordinary(&w, i, to, waits)
	}
	if !waits && (x.cfg.Units == 0 || int(w.passed) < x.cfg.Units) {
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

// roleTo puts a role and a member into one number of a move.
func (x *Model) roleTo(role, to int) int { return to*x.cfg.Roles + role }

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

// asked is a request of an operator that has just been sent.
func (x *Model) asked(w *World) (i, n int, ok bool) {
	for i := range x.cfg.Members {
		for n, c := range w.wires[i].controls {
			if !c.late && w.procs[i].hears() {
				return i, n, true
			}
		}
	}
	return 0, 0, false
}

// inOneGo appends what can happen to such a write: it continues, or a fault comes between.
func (x *Model) inOneGo(w *World, i, n int, faulty bool, to []search.Move) []search.Move {
	v := land
	if w.wires[i].flights[n].stage == back {
		v = reply
	}
	to = append(to, move(v, i, n))
	if !faulty {
		return to
	}
	to = x.strayed(w, i, n, to)
	if w.procs[i].hears() && x.allowed(w, Crash) {
		to = append(to, move(crash, i, 0))
	}
	return to
}

// allowed reports whether there is a fault of this kind left.
func (x *Model) allowed(w *World, f Fault) bool { return int(w.spent[f]) < x.cfg.most(f) }

// strayed appends what can go wrong with a write, or its answer, on its way.
func (x *Model) strayed(w *World, i, n int, to []search.Move) []search.Move {
	may := func(v verb) {
		if x.allowed(w, faultOf[v]) {
			to = append(to, move(v, i, n))
		}
	}
	switch f := w.wires[i].flights[n]; f.stage {
	case going:
		may(delayRequest)
	case back:
		may(delayReply)
		may(repeatReply)
		if f.outcome == record.Won { // else both answers are the same
			may(repeatRequest)
			may(refusedFirst)
		}
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
		case back, backLate, echo:
			if p.hears() {
				may(reply, n, f.stage == back)
			}
		}
		if p.hears() && f.stage != orphan && f.stage != echo && f.left == 0 {
			may(timeout, n, true)
		}
	}
	switch {
	case !p.alive():
		if !x.cfg.Gone {
			may(again, 0, false)
		}
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
			may(askArrives, n, !a.late)
		case askBack:
			may(askReturns, n, !a.late)
		}
	}
	for n, c := range l.controls {
		may(controlArrives, n, !c.late)
	}
	return to, waits
}

// faults appends what else can happen while there is some left of its kind.
func (x *Model) faults(w *World, to []search.Move) []search.Move {
	may := func(v verb, who, n int) {
		if x.allowed(w, faultOf[v]) {
			to = append(to, move(v, who, n))
		}
	}
	for i := range x.cfg.Members {
		p, l := w.procs[i], w.wires[i]
		for n := range l.flights {
			to = x.strayed(w, i, n, to)
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
		if l.watch == watching {
			may(repeatWatch, i, 0)
		}
		for n, d := range l.drains {
			if !d.slow {
				may(slow, i, n)
			}
		}
		for r := range x.cfg.Roles {
			if p.work[r].leading {
				may(askStepDown, i, r)
				for j := range x.cfg.Members {
					if j != i {
						may(askTransfer, i, x.roleTo(r, j))
					}
				}
			}
		}
		for n, a := range l.asks {
			switch {
			case a.late:
			case a.stage == askGoing:
				may(repeatQuestion, i, n)
			case a.stage == askBack:
				may(repeatAnswer, i, n)
			}
		}
		for n, c := range l.controls {
			if !c.late {
				may(repeatControl, i, n)
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

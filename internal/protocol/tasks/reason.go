package tasks

import "slices"

// Reason says why a task that is due is with nobody; "" when it is the next one's turn, or not due.
type Reason string

const (
	ReasonStarting    Reason = "starting"    // the scheduler does not hand out yet
	ReasonPaused      Reason = "paused"      // its kind is
	ReasonNoWorker    Reason = "no_worker"   // nobody takes its kind
	ReasonLabels      Reason = "labels"      // nobody who does has its labels
	ReasonSlots       Reason = "slots"       // nobody of those has so many slots, taken or not
	ReasonDrained     Reason = "drained"     // all of those are drained, or are leaving
	ReasonUnreachable Reason = "unreachable" // the others of those do not listen
	ReasonConcurrency Reason = "concurrency" // as many of its kind run as may
	ReasonAfter       Reason = "after"       // a task that it waits for has not ended
	ReasonKeyLimit    Reason = "key_limit"   // as many of its limit key run as may
	ReasonRate        Reason = "rate"        // its kind may hand out no more tasks at the moment
	ReasonUndecodable Reason = "undecodable" // all those have rejected its input, which they cannot decode
	ReasonSuspect     Reason = "suspect"     // its worker was lost: it is tried apart from others
	ReasonBusy        Reason = "busy"        // nobody of those has a free slot, or slots enough
	ReasonReserved    Reason = "reserved"    // those that have are kept for a suspect that runs alone there
	ReasonPlacement   Reason = "placement"   // the configured Placement lets it wait, or what is before it
)

// reasons finds them for one answer, which may be about very many tasks.
type reasons struct {
	s       *Scheduler
	now     Instant
	takers  map[*kind]bool // whether anybody takes a kind
	classes map[*queueClass]Reason
}

func (s *Scheduler) reasons(now Instant) *reasons {
	return &reasons{s, now, map[*kind]bool{}, map[*queueClass]Reason{}}
}

// of is why a task waits.
func (r *reasons) of(t *task) Reason {
	switch t.phase {
	case blocked:
		return ReasonAfter
	case waiting, parked:
	default:
		return ""
	}
	why := r.ofClass(t.class)
	if t.subqueue().offered == 0 && slices.Contains(keysBefore, why) {
		return ReasonKeyLimit
	}
	return why
}

// keysBefore are the reasons of others of its class that do not hold up a task whose limit key has
// as many as may run.
var keysBefore = []Reason{"", ReasonBusy, ReasonReserved, ReasonRate, ReasonPlacement}

// ofClass is why the first task of a class waits, and so those behind it.
func (r *reasons) ofClass(l *queueClass) Reason {
	why, known := r.classes[l]
	if !known {
		why = r.find(l)
		r.classes[l] = why
	}
	return why
}

func (r *reasons) find(l *queueClass) Reason {
	s, k := r.s, l.kind
	if why := r.ofAll(k); why != "" {
		return why
	}
	near := r.nearest(l)
	switch {
	case near == 0 && l.but != nil:
		return ReasonUndecodable
	case near < busy:
		return obstacles[near]
	case k.Concurrency > 0 && k.held() >= k.Concurrency:
		return ReasonConcurrency
	case k.wait(s.readyAt, r.now) > 0:
		return ReasonRate
	case near < len(obstacles)-1:
		return obstacles[near]
	case l.group != 0:
		return ReasonSuspect
	case s.cfg.Placement != nil:
		return ReasonPlacement
	}
	return ""
}

// ofAll is why none of a kind goes, whatever its labels and weight.
func (r *reasons) ofAll(k *kind) Reason {
	switch {
	case !r.s.ready:
		return ReasonStarting
	case k.paused:
		return ReasonPaused
	case !r.taken(k):
		return ReasonNoWorker
	}
	return ""
}

// taken reports whether anybody takes a kind.
func (r *reasons) taken(k *kind) bool {
	is, known := r.takers[k]
	if !known {
		is = slices.ContainsFunc(r.s.workerList, func(w *worker) bool {
			return w.works && w.slots > 0 && slices.Contains(w.kinds, k.name)
		})
		r.takers[k] = is
	}
	return is
}

// obstacles are what may keep a worker that takes the kind from the tasks of a class, the worst
// first.
var obstacles = [...]Reason{
	ReasonLabels, ReasonSlots, ReasonDrained, ReasonUnreachable, ReasonBusy, ReasonReserved, "",
}

const busy, reserved = 4, 5 // among them

// nearest is what keeps the worker that is the nearest to taking a class's tasks, an index of
// obstacles.
func (r *reasons) nearest(l *queueClass) (least int) {
	those, known := r.s.workerList, l.pool != nil && !r.s.dirty
	if known {
		those = l.pool.workers
	}
	for _, w := range those {
		is := len(obstacles) - 1
		switch {
		case !known && !l.takes(w), w.slots == 0: // the scheduler's own, where that does not work
			is = 0
		case w.slots < l.weight:
			is = 1
		case w.draining || w.drained:
			is = 2
		case w.unreachable:
			is = 3
		case w.room() < l.weight || w.paused > r.now:
			is = busy
		case r.s.isolates(w, r.now):
			is = reserved
		}
		least = max(least, is)
	}
	return least
}

// ofKind counts the tasks of a kind that wait, by reason; of very many classes it looks at some
// only.
func (r *reasons) ofKind(k *kind) map[Reason]int {
	all := map[Reason]int{}
	if why := r.ofAll(k); why != "" {
		all[why] = int(k.count[waiting] + k.count[parked])
	} else if k.offered > 0 {
		looked := 0
		for _, l := range k.classes {
			if looked++; looked > maxLook {
				break
			}
			all[r.ofClass(l)] += l.offered
		}
	}
	if n := int(k.count[waiting]+k.count[parked]) - k.offered; n > 0 && r.ofAll(k) == "" {
		all[ReasonKeyLimit] = n
	}
	for why, n := range all {
		if why == "" || n == 0 {
			delete(all, why)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

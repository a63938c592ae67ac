package workers

import (
	"cmp"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// Config fixes what one worker does under one session.
type Config struct {
	Slots int
	Kinds []string
	// MaxOutbox is how many unacknowledged results it keeps; above that it takes nothing new.
	MaxOutbox int
}

// Worker is the rules of one worker under one session: what it runs, what it has not reported, and
// what it has answered.
type Worker struct {
	cfg      Config
	kinds    map[string]bool
	draining bool

	term   uint64                   // the newest whose assignments it has seen
	low    uint64                   // serials of it up to which nothing is run any more
	memory map[uint64]tasks.Verdict // answers in this term, by serial, above low

	runs  map[string]*run
	busy  int // of them with a live handler
	taken int // slots that those take

	out []Effect
}

type runState uint8

const (
	live    runState = iota // its handler runs
	halted                  // its handler still runs, and what it returns is for nobody
	unacked                 // its result is reported until it is settled
)

type run struct {
	attempt  tasks.Attempt
	revision uint64
	state    runState
	weight   int
}

// New returns a worker that holds nothing.
func New(cfg Config) *Worker {
	w := &Worker{cfg: cfg, memory: map[uint64]tasks.Verdict{}, runs: map[string]*run{}}
	w.Offer(cfg.Kinds)
	return w
}

// Step applies one event and appends what is to be done to out.
func (w *Worker) Step(ev Event, out []Effect) []Effect {
	w.out = out
	ev.applyTo(w)
	out, w.out = w.out, nil
	return out
}

// Offer replaces the kinds that the worker takes.
func (w *Worker) Offer(kinds []string) {
	w.kinds = make(map[string]bool, len(kinds))
	for _, k := range kinds {
		w.kinds[k] = true
	}
}

// Live is how many handlers run.
func (w *Worker) Live() int { return w.busy }

// Beside is how many handlers run that Holding does not name: they were told to stop, or have
// outlived an earlier session of the process, as blocked does.
func (w *Worker) Beside(blocked map[string]int) int {
	n := len(blocked)
	for _, r := range w.runs {
		if r.state == halted {
			n++
		}
	}
	return n
}

// Unacked is how many results are not settled.
func (w *Worker) Unacked() int { return len(w.runs) - w.busy }

// Holding is what a new scheduler has to know, by id: every attempt that runs, or whose result is
// not settled.
func (w *Worker) Holding() []tasks.Held {
	all := make([]tasks.Held, 0, len(w.runs))
	for id, r := range w.runs {
		if r.state != halted {
			all = append(all, tasks.Held{ID: id, Attempt: r.attempt, Revision: r.revision})
		}
	}
	slices.SortFunc(all, func(a, b tasks.Held) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func (w *Worker) emit(e Effect) { w.out = append(w.out, e) }

// enter begins a term that is new here: the epochs of the terms before it are refused from now on,
// and what was answered in them with it.
func (w *Worker) enter(term uint64) bool {
	if term > w.term {
		w.term, w.low = term, 0
		clear(w.memory)
	}
	return term == w.term
}

func (p Received) applyTo(w *Worker) {
	answers := make([]tasks.Answer, len(p.List))
	current := w.enter(p.Term)
	for i := range p.List {
		a := &p.List[i]
		v := tasks.StaleEpoch
		if current {
			v = w.judge(a, p.Blocked)
			if a.Serial > w.low {
				w.memory[a.Serial] = v
			}
		}
		answers[i] = tasks.Answer{ID: a.ID, Attempt: a.Attempt, Verdict: v}
	}
	if current {
		w.forget(p.Low)
	}
	w.emit(Reply{p.Ref, answers})
}

// judge answers one assignment. A repeated one gets the same answer again: what was rejected once
// is never run.
func (w *Worker) judge(a *tasks.Assignment, blocked map[string]int) tasks.Verdict {
	if a.Serial <= w.low {
		return tasks.Replayed
	}
	if v, known := w.memory[a.Serial]; known {
		return v
	}
	r := w.runs[a.ID]
	switch {
	case w.draining:
		return tasks.Draining
	case !w.kinds[a.Policy.Kind]:
		return tasks.UnknownKind
	case r != nil && r.attempt == a.Attempt:
		return tasks.Accepted
	case r != nil || blocked[a.ID] > 0, a.Alone && w.busy+len(blocked) > 0:
		return tasks.Busy
	case a.Left < 0:
		return tasks.Expired
	}
	weight, taken := max(a.Policy.Weight, 1), w.taken
	for _, slots := range blocked {
		taken += slots
	}
	if taken+weight > w.cfg.Slots || w.Unacked() >= w.cfg.MaxOutbox {
		return tasks.Full
	}
	w.runs[a.ID] = &run{attempt: a.Attempt, revision: a.Revision, weight: weight}
	w.busy++
	w.taken += weight
	w.emit(Start{*a})
	return tasks.Accepted
}

// forget drops the answers that the scheduler has had, up to its low-water mark.
func (w *Worker) forget(low uint64) {
	if low <= w.low {
		return
	}
	w.low = low
	for serial := range w.memory {
		if serial <= low {
			delete(w.memory, serial)
		}
	}
}

// applyTo ends an attempt, and remembers that it was ended also when it has never been seen: its
// push may come later.
func (t StopOrder) applyTo(w *Worker) {
	if !w.enter(t.Term) {
		return
	}
	if t.Serial > w.low {
		w.memory[t.Serial] = tasks.Halted
	}
	r := w.runs[t.ID]
	switch {
	case r == nil || r.attempt != t.Attempt:
	case r.state == live:
		r.state = halted
		w.emit(Halt{t.ID, t.Attempt, t.Status})
	case r.state == unacked:
		delete(w.runs, t.ID)
		w.emit(Forget{t.ID, t.Attempt})
	}
}

func (e Ended) applyTo(w *Worker) {
	r := w.runs[e.ID]
	if r == nil || r.attempt != e.Attempt || r.state == unacked {
		return
	}
	w.busy--
	w.taken -= r.weight
	if r.state == halted {
		delete(w.runs, e.ID)
		w.emit(Forget(e))
		return
	}
	r.state = unacked
	w.emit(Report(e))
}

func (e Acked) applyTo(w *Worker) {
	if r := w.runs[e.ID]; r != nil && r.attempt == e.Attempt && r.state == unacked {
		delete(w.runs, e.ID)
		w.emit(Forget(e))
	}
}

func (Drain) applyTo(w *Worker) { w.draining = true }

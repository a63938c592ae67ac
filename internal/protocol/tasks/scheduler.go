package tasks

import (
	"time"
)

// SchedulerConfig fixes what one scheduler does for its whole term.
type SchedulerConfig struct {
	Epoch       uint64        // the term's first
	CrashBudget int           // lost workers, after which a task is dead
	AnswerTime  time.Duration // a worker is asked again after it
	WriteTime   time.Duration // a refusal that the stream does not explain within it is looked into again
	AgingStep   time.Duration // waiting that outweighs one step of priority, 0: 10 s
	Placement   Placement     // nil: sticky, then least loaded
	Rand        func() float64
}

const (
	maxPerFrame = 256
	retryCap    = 5 * time.Second
	maxKinds    = 256 // that are remembered though no task of them is open
)

// Scheduler is the rules of one term: plain data and a transition function, without I/O, clock or goroutine.
//
//	read: the stream up to our own seal   ──┐
//	carried: every member before our epoch ─┼─► ready ──► hands out
//	synced: each of them answered, or dead ─┘
type Scheduler struct {
	cfg   SchedulerConfig
	epoch uint64 // the present one; rotation moves it

	caughtUp, carried, ready, over bool
	tasks                          map[string]*task
	kinds                          map[string]*kind
	turn                           []*kind // the same, in the order of their turn
	workers                        map[uint64]*worker
	line                           []*worker     // the same, in the order in which they came
	early                          map[held]Done // reports that came before the books were complete

	seal   seal
	writes map[uint64]*write
	last   uint64 // number of the last write

	delayed, expiring alarms
	dirty             bool // workers or their kinds have changed
	queued, held      int

	now Instant
	out []Effect
}

// NewScheduler returns a scheduler that has read nothing yet.
func NewScheduler(cfg SchedulerConfig) *Scheduler {
	return &Scheduler{
		cfg: cfg, epoch: cfg.Epoch, tasks: map[string]*task{}, kinds: map[string]*kind{},
		workers: map[uint64]*worker{}, writes: map[uint64]*write{}, early: map[held]Done{},
	}
}

// Step applies one event at one moment and appends what is to be done to out. The effects are to be carried out in order.
// Nothing is handed out but at a Tick, so that what came at once goes out together.
func (s *Scheduler) Step(now Instant, ev Event, out []Effect) []Effect {
	s.now, s.out = now, out
	if !s.over {
		ev.apply(s)
	}
	out, s.out = s.out, nil
	return out
}

// Ready reports whether tasks are being handed out.
func (s *Scheduler) Ready() bool { return s.ready }

// Levels are how many tasks wait, how many a worker has, and the workers' slots.
func (s *Scheduler) Levels() (queued, held, slots int) {
	for _, w := range s.line {
		if w.works && !w.draining {
			slots += w.slots
		}
	}
	return s.queued, s.held, slots
}

// Next is how long after now the scheduler wants its next Tick, at the latest.
func (s *Scheduler) Next(now Instant) time.Duration {
	next := min(s.delayed.next(), s.expiring.next(), s.seal.due())
	for _, w := range s.line {
		next = min(next, w.due(s))
	}
	if next == never {
		return time.Hour
	}
	return max(next.Sub(now), 0)
}

func (s *Scheduler) emit(e Effect) { s.out = append(s.out, e) }

func (Tick) apply(s *Scheduler) {
	s.tendSeal()
	s.becomeReady()
	for t := s.expiring.pop(s.now); t != nil; t = s.expiring.pop(s.now) {
		s.expire(t)
	}
	for t := s.delayed.pop(s.now); t != nil; t = s.delayed.pop(s.now) {
		s.enqueue(t, false)
	}
	s.tendWorkers()
	if s.ready {
		s.dispatch()
	}
}

func (r Rotated) apply(s *Scheduler) {
	if r.Epoch > s.epoch {
		s.epoch = r.Epoch
		s.renew()
	}
}

func (Reconnected) apply(s *Scheduler) { s.renew() }

// fenced ends the scheduler: a later one has taken over.
func (s *Scheduler) fenced(by uint64) {
	s.over = true
	s.emit(Fenced{By: by})
}

// Sessions are those on the books.
func (s *Scheduler) Sessions() []uint64 {
	all := make([]uint64, len(s.line))
	for i, w := range s.line {
		all[i] = w.session
	}
	return all
}

// Term is the first epoch of the term.
func (s *Scheduler) Term() uint64 { return s.cfg.Epoch }

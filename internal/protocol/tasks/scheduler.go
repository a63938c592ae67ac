package tasks

import (
	"cmp"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/queue"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/reach"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/recurring"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/streamclock"
)

// SchedulerConfig fixes what one scheduler does for its whole term.
type SchedulerConfig struct {
	Epoch       uint64        // the term's first
	CrashBudget int           // lost workers, after which a task is dead, where its policy does not say
	LossTime    time.Duration // within which it is known that a worker is lost
	AnswerTime  time.Duration // a worker is asked again after it
	Silence     time.Duration // a worker that has not answered for so long is ended if it is idle, 0: never
	WriteTime   time.Duration // a refusal that the stream does not explain within it is looked into again
	AgingStep   time.Duration // waiting that outweighs one step of priority, 0: 10 s
	Placement   Placement     // nil: sticky, then least loaded
	TallyEvery  time.Duration // what became of the members of a group is recorded after it, 0: 10 s
	Unclosed    time.Duration // a group of which members are missing then is given up, 0: 24 h
	Rand        func() float64
}

const (
	maxPerFrame = 256
	retryCap    = 5 * time.Second
	agingStep   = 10 * time.Second
	tallyEvery  = 10 * time.Second
	unclosed    = 24 * time.Hour
	maxSpare    = 4096
	maxDue      = 4096            // tasks that come due in one step
	maxUnasked  = 5 * time.Second // between two questions to a worker that messages do not reach
	maxExpired  = 1024            // outcomes of tasks that have expired, under way at once
)

// Scheduler is the rules of one term: plain data and a transition function, without I/O, clock or
// goroutine. It hands out nothing before three things have happened: the stream was read up to our
// own seals, the watch has shown every member from before our epoch, and each of those has
// answered or is dead.
type Scheduler struct {
	cfg   SchedulerConfig
	epoch uint64 // the present one; rotation moves it

	caughtUp, settled, carried, ready, over bool
	readyAt                                 Instant
	began                                   Instant       // when the first submission was read
	reading                                 time.Duration // from then until all was read,
	first                                   uint64        // up to this seal

	tasks   table
	kinds   map[string]*kind
	classes []*queueClass
	count   [phases]int32
	spare   []*current        // to be used again
	marks   map[uint16]uint32 // the largest numbers of attempts of tasks that have ended, see numbered

	limits  map[string]*limit
	paused  map[string]bool   // kinds
	bounds  map[string]bounds // by kind
	drained map[string]bool   // instances
	opaque  map[string]opaque // open tasks that cannot be read
	cancels map[string]uint64 // requests that stand: their revisions, by task
	uniques map[string]unique // by key: records whose task is not in the state
	places  map[string]uint64 // what submissions with keys may replace, as it was read in the beginning: revisions by task

	nextBound   Instant             // by the stream's clock: the end of the first override of limits
	recurs      map[string]*recur   // by name
	instances   recurring.Instances // open tasks of them
	coming      queue.Queue[*recur] // those whose next tick is to come, on the stream's clock
	unscheduled bool                // nobody knew what time it was when one of them came

	workers    map[uint64]*worker
	workerList []*worker                // the same, in the order in which they came
	reach      *reach.Book              // which of them, and of their former sessions, messages do not reach
	pools      pools                    // of workers that can run the same classes
	pooled     int                      // so many of classes have one, those after them have none yet
	dirty      bool                     // workers, or what they take, have changed
	round      uint64                   // of handing out
	heads      queue.Queue[*queueClass] // of the present round: classes by the turns of their first tasks
	among      []Candidate              // scratch of Placement
	wake       Instant                  // when what is kept back may continue by itself

	early   map[held]Done       // reports that came before the state was complete
	hints   map[held]Progressed // likewise
	aborted map[string]Settled  // outcomes that were read of tasks that were cancelled or have expired, until then
	begun   map[string]begun    // by task: attempts that are noted to have begun at a scheduler's own worker
	before  uint64              // the seal below which tasks are doubted, 0: none is

	edges *groups.Edges     // the dependencies of open tasks
	left  []string          // outcomes that stayed for a task that has left in this step
	stays map[string]Status // outcomes that were read and stay; nil once all has been read

	bundles *bundles.Book

	groups  map[string]*group // by the task that completes it, which is open
	tallyAt Instant           // when their records are looked after next

	suspects  map[string]suspicion // by task
	fallen    map[string]*fall     // lost workers, by what they have shared with others
	undecoded map[string]undecoded // likewise
	lonely    []lonely             // those of them that wait for another worker, in the order of their times

	seal    seal
	writes  map[uint64]*write
	erasing map[string]int // erasures that were sent under the present seal, by what they belong to
	last    uint64         // number of the last write

	delayed, expiring queue.Queue[*task] // on the stream's clock, like the turns of classes
	expired           int                // tasks whose outcome is being stored since their deadline has passed

	watched map[string]Instant // tasks, and until when
	feeding Instant            // until when what happens to all tasks is told
	changed []string           // those of which it is told in this step

	now   Instant
	clock streamclock.Clock
	out   []Effect
}

// NewScheduler returns a scheduler that has read nothing yet.
func NewScheduler(cfg SchedulerConfig) *Scheduler {
	pause := max(cfg.AnswerTime/8, time.Millisecond)
	cfg.AgingStep = min(cmp.Or(cfg.AgingStep, agingStep), 24*time.Hour) // a hundred of them are still a time
	cfg.TallyEvery, cfg.Unclosed = cmp.Or(cfg.TallyEvery, tallyEvery), cmp.Or(cfg.Unclosed, unclosed)
	return &Scheduler{
		cfg: cfg, epoch: cfg.Epoch, tasks: newTable(), kinds: map[string]*kind{}, marks: map[uint16]uint32{},
		limits: map[string]*limit{}, paused: map[string]bool{}, drained: map[string]bool{}, cancels: map[string]uint64{},
		bounds: map[string]bounds{}, nextBound: never,
		opaque:  map[string]opaque{},
		uniques: map[string]unique{}, places: map[string]uint64{}, recurs: map[string]*recur{},
		instances: recurring.Instances{}, workers: map[uint64]*worker{},
		pools: pools{by: map[string]*pool{}},
		reach: reach.NewBook(reach.Config{
			First: pause, Most: max(pause, maxUnasked), Tell: max(cfg.LossTime, cfg.AnswerTime),
		}),
		early: map[held]Done{}, hints: map[held]Progressed{}, begun: map[string]begun{}, writes: map[uint64]*write{},
		erasing: map[string]int{}, suspects: map[string]suspicion{}, fallen: map[string]*fall{},
		undecoded: map[string]undecoded{},
		edges:     groups.NewEdges(), stays: map[string]Status{}, groups: map[string]*group{},
		bundles: bundles.NewBook(),
		watched: map[string]Instant{}, expiring: queue.Numbered[*task](ofDeadlines),
	}
}

// Step applies one event at one moment and appends what is to be done to out. The effects are to be
// carried out in order. Nothing is handed out but at a Tick, so that what came at once goes out
// together. An event may be given by its address: it is not kept.
func (s *Scheduler) Step(now Instant, ev Event, out []Effect) []Effect {
	s.now, s.out = now, out
	s.clock.Step(now)
	if !s.over {
		ev.apply(s)
	}
	if len(s.left) > 0 {
		s.releaseFree()
	}
	if len(s.changed) > 0 {
		s.emitChanged()
	}
	out, s.out = s.out, nil
	return out
}

// Ready reports whether tasks are being handed out.
func (s *Scheduler) Ready() bool { return s.ready }

// Levels are how many tasks are due and wait, how many a worker has, and how many slots of the
// workers are taken and free. Those of a worker that drains are not free.
func (s *Scheduler) Levels() (queued, held, busy, free int) {
	for _, w := range s.workerList {
		if !w.works {
			continue
		}
		busy += w.load
		if !w.draining {
			free += max(w.slots-w.load, 0)
		}
	}
	queued = int(s.count[waiting] + s.count[parked])
	return queued, int(s.count[starting] + s.count[pushed] + s.count[running]), busy, free
}

// Next is how long after now the scheduler wants its next Tick, at the latest.
func (s *Scheduler) Next(now Instant) time.Duration {
	next := s.seal.due()
	if s.ready {
		next = min(next, s.wake, s.undecodedDue())
	}
	if s.settled {
		next = min(next, s.clock.Of(s.delayed.Next()), s.clock.Of(s.nextBound))
	}
	if s.settled && s.expired < maxExpired {
		next = min(next, s.clock.Of(s.expiring.Next()))
	}
	if s.clock.Told && s.seal.valid != 0 {
		next = min(next, s.clock.Due())
	}
	for _, w := range s.workerList {
		next = min(next, w.due(s))
	}
	if s.seal.valid != 0 {
		next = min(next, s.clock.Of(s.coming.Next()))
	}
	if len(s.groups) > 0 && s.settled {
		next = min(next, s.tallyAt)
	}
	if next == never {
		return time.Hour
	}
	return max(next.Sub(now), 0)
}

// emit adds an effect. After the one that ends the scheduler there is none.
func (s *Scheduler) emit(e Effect) {
	if !s.over {
		s.out = append(s.out, e)
	}
}

// end is the last effect.
func (s *Scheduler) end(e Effect) {
	s.emit(e)
	s.over = true
}

func (e Tick) apply(s *Scheduler) {
	s.clock.UseLocal(s.now, e.Wall)
	if s.seal.valid != 0 && s.clock.Stale(s.now) {
		s.renew()
	}
	s.tendSeal()
	s.becomeReady()
	if s.settled {
		s.expireBounds()
		s.comeDue()
	}
	s.fire()
	s.tendGroups()
	s.tendWorkers()
	if s.ready && !s.over {
		s.tendUndecoded()
		s.dispatch()
	}
}

// comeDue lets what has come to its time expire, and wait for a worker, as much of it as one step
// may.
func (s *Scheduler) comeDue() {
	for s.expired < maxExpired && !s.over {
		t := s.expiring.Pop(s.clock.Now)
		if t == nil {
			break
		}
		s.expire(t)
	}
	for range maxDue {
		t := s.delayed.Pop(s.clock.Now)
		if t == nil || s.over {
			break
		}
		s.enqueue(t)
	}
}

func (r Rotated) apply(s *Scheduler) {
	if r.Epoch > s.epoch {
		s.epoch = r.Epoch
		clear(s.marks) // attempts of the new epoch are larger than all
		s.renew()
	}
}

func (Reconnected) apply(s *Scheduler) { s.renew() }

// Sessions are those in the state.
func (s *Scheduler) Sessions() []uint64 {
	all := make([]uint64, len(s.workerList))
	for i, w := range s.workerList {
		all[i] = w.session
	}
	return all
}

// Term is the first epoch of the term.
func (s *Scheduler) Term() uint64 { return s.cfg.Epoch }

// byRevision orders tasks that something happens to at once.
func byRevision(all []*task) {
	slices.SortFunc(all, func(a, b *task) int { return cmp.Compare(a.Order(), b.Order()) })
}

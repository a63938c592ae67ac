package tasks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

// Storm is a random schedule of faults and workload.
type Storm struct {
	Seed       uint64
	Candidates int // at the beginning, and after each storm at least two
	Workers    int // that campaign for nothing
	Length     time.Duration
	Lull       time.Duration // the longest quiet between storms
	Restarts   bool          // the server is restarted too: its stores are files
	Peaceful   bool          // nothing breaks: processes come and go cleanly, as when a new version is rolled out
	Sync       time.Duration // of each write of a process, one after the other; then more tasks come at once
}

// taskStorm is one that rages.
type taskStorm struct {
	Storm
	storm.Weather[*Process]
	a        *Arena
	joined   int
	tasks    int
	paused   map[string]bool
	drained  map[string]bool
	workload sync.WaitGroup

	from       *assign.Client // of all who submit
	disk, own  natsrun.Disk   // before the processes, and before the client
	mu         sync.Mutex
	unfinished []func(context.Context, *assign.Client) error // groups of which members may be missing
}

// Recurrence is that of every storm, with its step: each tick is to come, once.
const (
	Recurrence = "each"
	Step       = time.Minute
)

// Rage throws faults and submits tasks until the time is over. After each storm it heals
// everything, insists that all tasks end, and checks all promises.
func (a *Arena) Rage(plan Storm) {
	a.TB.Helper()
	synced := func() natsrun.Disk { return natsrun.Disk{Prefix: "$KV.TASKS_" + a.Name + ".", Sync: plan.Sync} }
	s := &taskStorm{
		Storm: plan, a: a, paused: map[string]bool{}, drained: map[string]bool{},
		from: a.Client, disk: synced(), own: synced(),
	}
	if plan.Sync > 0 {
		s.from = a.client(a.connect(storm.Patient("synced client", a.TTL), nats.SetCustomDialer(s.own.Before(a.Path))))
		defer s.from.Close()
	}
	s.Weather = storm.Weather[*Process]{
		Rand: rand.New(rand.NewPCG(plan.Seed, 0x7a5c5)), Lease: a.TTL, Note: a.Note, Count: a.Tally.Add,
		Join: func(like *Process, sameName bool) {
			if sameName {
				s.join(like.Worker, like.Name)
			} else {
				s.join(like.Worker, "")
			}
		},
	}
	a.Note("%+v", plan)
	defer s.workload.Wait()
	for range plan.Candidates {
		s.join(false, "")
	}
	for range plan.Workers {
		s.join(true, "")
	}
	err := assign.Recur(a.TB.Context(), a.Operator, Plain, Recurrence, fmt.Sprint("@every ", Step),
		Order{Run: time.Second}, assign.CatchUp(assign.CatchUpAll))
	if err != nil {
		a.TB.Fatal(err)
	}
	for end := time.Now().Add(plan.Length); time.Now().Before(end) && !a.TB.Failed(); {
		for range 4 + s.Rand.IntN(8) {
			for range s.Rand.IntN(8) {
				s.ask()
			}
			s.Pass(s.Below(a.TTL))
			s.strike()
			s.Pass(s.Below(2 * a.TTL))
			if s.Rand.IntN(3) == 0 && !s.HealOne() {
				a.Path.Heal()
			}
		}
		s.calm()
	}
	a.Tally.Add("ticks", a.Ticks(Recurrence, Step))
	_, batches, _ := s.disk.Stored()
	a.Tally.Add("batches of outcomes", batches)
}

// calm heals everything, and insists that every task ends and that every promise was kept.
func (s *taskStorm) calm() {
	a := s.a
	a.TB.Helper()
	s.HealAll()
	a.Path.Heal()
	s.workload.Wait() // none of them pauses or drains anything after this
	for _, kind := range Kinds {
		s.steer(func(ctx context.Context) error { return assign.ResumeKind(ctx, a.Operator, kind.Name()) })
	}
	for instance := range s.drained {
		s.steer(func(ctx context.Context) error { return assign.UndrainWorker(ctx, a.Operator, instance) })
	}
	clear(s.paused)
	clear(s.drained)
	s.finishGroups()
	for candidates, workers := s.alive(); candidates < 2 || workers < 1; candidates, workers = s.alive() {
		s.join(candidates >= 2, "")
	}
	a.Note("calm")
	a.Settled(5*time.Minute + 20*a.TTL)
	a.Tally.Add("calms", 1)
	if s.Peaceful {
		a.checkUnharmed()
	}
	if a.Check() {
		s.Pass(s.Below(s.Lull))
	}
}

func (s *taskStorm) alive() (candidates, workers int) {
	for _, p := range s.a.Alive() {
		if p.Worker {
			workers++
		} else {
			candidates++
		}
	}
	return candidates, workers
}

// join starts a process under that name, or a new one.
func (s *taskStorm) join(worker bool, name string) *Process {
	s.joined++
	if name == "" {
		name = fmt.Sprintf("p%d", s.joined)
		if worker {
			name = fmt.Sprintf("w%d", s.joined)
		}
	}
	plan := Plan{Name: name, Worker: worker, Idle: s.Rand.IntN(3) == 0, Slots: 3 + s.Rand.IntN(6), Budget: 3}
	if s.Sync > 0 {
		plan.Slots *= 10
		plan.Path = func(l *natsrun.Link) nats.CustomDialer { return s.disk.Before(l) }
	}
	p := s.a.Join(plan)
	s.a.Note("%s joins", p)
	return p
}

// steer does what an operator asks for until it is done: its path has no faults, but the server may
// be away.
func (s *taskStorm) steer(f func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(s.a.TB.Context(), time.Minute)
	defer cancel()
	if err := f(ctx); err != nil {
		s.a.TB.Errorf("steer: %v", err)
	}
}

package tasks

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
)

// Storm is a random schedule of faults and errands.
type Storm struct {
	Seed       uint64
	Candidates int // at the beginning, and after each storm at least two
	Workers    int // that campaign for nothing
	Length     time.Duration
	Lull       time.Duration // the longest quiet between storms
	Restarts   bool          // the server is restarted too: its stores are files
	Peaceful   bool          // nothing breaks: processes come and go in good order, as when a new version is rolled out
}

// storm is one that rages.
type storm struct {
	Storm
	a       *Arena
	rng     *rand.Rand
	joined  int
	tasks   int
	broken  []*Process
	doomed  []doom
	paused  map[string]bool
	drained map[string]bool
	errands sync.WaitGroup
}

// doom is when what is left of a process ends that was crashed or closed.
type doom struct {
	p  *Process
	at time.Time
}

// Recurrence is that of every storm, with its step: each tick is to come, once.
const (
	Recurrence = "each"
	Step       = time.Minute
)

// Rage throws faults and submits tasks until the time is over. After each storm it heals everything, insists that all tasks
// end, and checks all promises.
func (a *Arena) Rage(plan Storm) {
	a.TB.Helper()
	s := &storm{Storm: plan, a: a, rng: rand.New(rand.NewPCG(plan.Seed, 0x7a5c5)), paused: map[string]bool{}, drained: map[string]bool{}}
	a.Note("%+v", plan)
	defer s.errands.Wait()
	for range plan.Candidates {
		s.join(false, "")
	}
	for range plan.Workers {
		s.join(true, "")
	}
	err := assign.Recur(a.TB.Context(), a.Operator, Plain, Recurrence, fmt.Sprint("@every ", Step), Order{Run: time.Second}, assign.CatchUp(assign.CatchUpAll))
	if err != nil {
		a.TB.Fatal(err)
	}
	for end := time.Now().Add(plan.Length); time.Now().Before(end) && !a.TB.Failed(); {
		for range 4 + s.rng.IntN(8) {
			for range s.rng.IntN(8) {
				s.errand()
			}
			s.pass(time.Duration(s.rng.Int64N(int64(a.TTL))))
			s.strike()
			s.pass(time.Duration(s.rng.Int64N(int64(2 * a.TTL))))
			if s.rng.IntN(3) == 0 {
				s.healOne()
			}
		}
		s.calm()
	}
	a.Tally.Add("ticks", a.Ticks(Recurrence, Step))
}

// calm heals everything, and insists that every task ends and that every promise was kept.
func (s *storm) calm() {
	a := s.a
	a.TB.Helper()
	for _, p := range s.broken {
		s.heal(p)
	}
	s.broken = nil
	a.Path.Heal()
	s.errands.Wait() // none of them pauses or drains anything after this
	for _, kind := range Kinds {
		s.steer(func(ctx context.Context) error { return assign.ResumeKind(ctx, a.Operator, kind.Name()) })
	}
	for instance := range s.drained {
		s.steer(func(ctx context.Context) error { return assign.UndrainWorker(ctx, a.Operator, instance) })
	}
	clear(s.paused)
	clear(s.drained)
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
		s.pass(time.Duration(s.rng.Int64N(int64(s.Lull))))
	}
}

func (s *storm) alive() (candidates, workers int) {
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
func (s *storm) join(worker bool, name string) *Process {
	s.joined++
	if name == "" {
		name = fmt.Sprintf("p%d", s.joined)
		if worker {
			name = fmt.Sprintf("w%d", s.joined)
		}
	}
	p := s.a.Join(Plan{Name: name, Worker: worker, Idle: s.rng.IntN(3) == 0, Slots: 3 + s.rng.IntN(6), Budget: 3})
	s.a.Note("%s joins", p)
	return p
}

// pass lets time pass; what is left of crashed processes ends when its time has come.
func (s *storm) pass(d time.Duration) {
	time.Sleep(d)
	kept := s.doomed[:0]
	for _, d := range s.doomed {
		if time.Now().Before(d.at) {
			kept = append(kept, d)
			continue
		}
		d.p.Abandon()
	}
	s.doomed = kept
}

// steer does what an operator asks for until it is done: its path has no faults, but the server may be away.
func (s *storm) steer(f func(ctx context.Context) error) {
	ctx, cancel := context.WithTimeout(s.a.TB.Context(), time.Minute)
	defer cancel()
	if err := f(ctx); err != nil {
		s.a.TB.Errorf("steer: %v", err)
	}
}

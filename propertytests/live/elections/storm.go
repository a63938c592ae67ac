package elections

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rolemanager/rolemanager/election"
)

// Storm is a random schedule of faults: stretches of weather, and calm between them in which everything must come right.
type Storm struct {
	Seed      uint64
	Length    time.Duration
	Processes int
	Roles     int
	TTL       time.Duration
	Gap       time.Duration // the longest time between two faults; 3 TTLs when zero
	Lull      time.Duration // the longest quiet after a storm
	Mixed     bool          // TTLs from TTL to three times that
	Ranked    bool          // priorities with takeover: E6 is checked too
	Rotate    bool
	Skew      float64 // clocks run at rates within 1 ± Skew
	Restarts  bool    // of the server; needs files
}

func (s Storm) String() string {
	return fmt.Sprintf("seed %d, %v, %d processes, %d roles, TTL %v (mixed %t), ranked %t, rotating %t, skew %v, restarts %t",
		s.Seed, s.Length, s.Processes, s.Roles, s.TTL, s.Mixed, s.Ranked, s.Rotate, s.Skew, s.Restarts)
}

// storm is a Storm that rages.
type storm struct {
	Storm
	a      *Arena
	rng    *rand.Rand
	roles  []string
	broken []*Process // links to heal
	joined int
	wiped  bool // a record was taken away or garbled since all was quiet: the wait may be as long as the bucket's longest lease
	doomed []doom
	victim *Process // of the last fault
	deck   *deck
}

// doom is a crashed process and when what is left of it ends.
type doom struct {
	p  *Process
	at time.Time
}

// Rage runs the storm to its end, and checks everything on the way. It ends when its length is over and it owes nothing any
// more; one that goes on owing, for overtime stretches, fails the test.
func (a *Arena) Rage(plan Storm) {
	a.TB.Helper()
	s := &storm{Storm: plan, a: a, rng: rand.New(rand.NewPCG(plan.Seed, 0x5706))}
	s.deck = newDeck(kinds(plan.Restarts), s.rng)
	for i := range plan.Roles {
		s.roles = append(s.roles, fmt.Sprintf("role-%d", i))
	}
	for range plan.Processes {
		s.join("")
	}
	s.calm()
	s.assemble()
	late := 0
	for end := time.Now().Add(plan.Length); !a.TB.Failed(); {
		if !time.Now().Before(end) {
			owed := s.owes()
			if len(owed) == 0 {
				return
			}
			if late++; late > overtime {
				a.TB.Fatalf("%d stretches of weather after its end this storm has still not brought about %q (%v)", overtime, owed, plan)
			}
		}
		s.weather()
		s.calm()
		s.crashLeader()
		a.Check()
	}
}

// weather is a stretch of faults, some of which heal meanwhile.
func (s *storm) weather() {
	for range 3 + s.rng.IntN(10) {
		s.strike()
		s.pass(time.Duration(s.rng.Int64N(int64(cmp.Or(s.Gap, 3*s.TTL)))))
		if s.rng.IntN(3) == 0 {
			s.healOne()
		}
	}
}

// join starts a process under that name, or a new one.
func (s *storm) join(name string) *Process {
	s.joined++
	if name == "" {
		name = fmt.Sprintf("p%d", s.joined)
	}
	cfg := election.SessionConfig{TTL: s.TTL, CoolDown: s.TTL / 2, DrainTimeout: s.TTL}
	if s.Mixed {
		cfg.TTL += time.Duration(s.rng.Int64N(int64(2 * s.TTL))).Truncate(time.Millisecond)
	}
	if s.Rotate {
		cfg.RotationInterval = 3 * cfg.TTL
	}
	plan := Plan{
		Name: name, Session: cfg, Seed: s.rng.Uint64(),
		Work: Work{Drain: s.TTL / 4, StuckOneIn: max(40, 4*s.Roles), FailOneIn: 12}, // who leads all roles leaves in good order, as a rule
		Rate: 1 + s.Skew*(2*s.rng.Float64()-1), Offset: time.Duration(s.rng.Int64N(int64(48*time.Hour))) - 24*time.Hour,
	}
	for _, role := range s.roles {
		cfg := election.RoleConfig{Role: role}
		if s.Ranked {
			cfg.Priority, cfg.AllowPriorityTakeover = 1+s.rng.IntN(100), true
		}
		plan.Roles = append(plan.Roles, cfg)
	}
	s.a.Note("%s joins: TTL %v, clock rate %.3f", name, cfg.TTL, plan.Rate)
	return s.a.Join(plan)
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

// someone is a process that takes part.
func (s *storm) someone() *Process {
	alive := s.a.Alive()
	if len(alive) == 0 {
		return nil
	}
	return alive[s.rng.IntN(len(alive))]
}

func (s *storm) role() string { return s.roles[s.rng.IntN(len(s.roles))] }

// target prefers whoever was hit last, since it takes two faults to make a disaster, and whoever leads something, since
// faults elsewhere are seldom noticed.
func (s *storm) target() *Process {
	if s.rng.IntN(3) == 0 && s.victim != nil && s.victim.Alive() {
		return s.victim
	}
	if s.rng.IntN(3) > 0 {
		if p := s.a.Leader(s.role()); p != nil && p.Alive() {
			return p
		}
	}
	return s.someone()
}

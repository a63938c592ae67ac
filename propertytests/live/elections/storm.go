package elections

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

// Storm is a random schedule of faults: stretches of weather, and calm between them in which
// everything must come right.
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
	return fmt.Sprintf(
		"seed %d, %v, %d processes, %d roles, TTL %v (mixed %t), ranked %t, rotating %t, skew %v, restarts %t",
		s.Seed, s.Length, s.Processes, s.Roles, s.TTL, s.Mixed, s.Ranked, s.Rotate, s.Skew, s.Restarts)
}

// electionStorm is a Storm that rages.
type electionStorm struct {
	Storm
	storm.Weather[*Process]
	a      *Arena
	roles  []string
	joined int
	// a record was taken away or garbled since all was quiet: the wait may be as long as the bucket's
	// longest lease
	wiped  bool
	victim *Process // of the last fault
	deck   *deck
}

// Rage runs the storm to its end, and checks everything on the way. It ends when its length is over
// and it owes nothing any more; one that keeps owing, for overtime stretches, fails the test.
func (a *Arena) Rage(plan Storm) {
	a.TB.Helper()
	s := &electionStorm{Storm: plan, a: a}
	s.Weather = storm.Weather[*Process]{
		Rand: rand.New(rand.NewPCG(plan.Seed, 0x5706)), Lease: plan.TTL, Note: a.Note, Count: a.Tally.Add,
		Join: func(like *Process, sameName bool) {
			if sameName {
				s.join(like.Name)
			} else {
				s.join("")
			}
		},
	}
	s.deck = newDeck(storm.Possible(faults, plan.Restarts), s.Rand)
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
				a.TB.Fatalf("%d stretches of weather after its end this storm has still not brought about %q (%v)", overtime,
					owed, plan)
			}
		}
		s.weather()
		s.calm()
		s.crashLeader()
		a.Check()
	}
}

// weather is a stretch of faults, some of which heal meanwhile.
func (s *electionStorm) weather() {
	for range 3 + s.Rand.IntN(10) {
		s.strike()
		s.Pass(s.Below(cmp.Or(s.Gap, 3*s.TTL)))
		if s.Rand.IntN(3) == 0 {
			s.HealOne()
		}
	}
}

// join starts a process under that name, or a new one.
func (s *electionStorm) join(name string) *Process {
	s.joined++
	if name == "" {
		name = fmt.Sprintf("p%d", s.joined)
	}
	cfg := election.SessionConfig{TTL: s.TTL, CoolDown: s.TTL / 2, DrainTimeout: s.TTL}
	if s.Mixed {
		cfg.TTL += s.Below(2 * s.TTL).Truncate(time.Millisecond)
	}
	if s.Rotate {
		cfg.RotationInterval = 3 * cfg.TTL
	}
	plan := Plan{
		Name: name, Session: cfg, Seed: s.Rand.Uint64(),
		// a leader of all roles leaves cleanly, as a rule
		Work: Work{Drain: s.TTL / 4, StuckOneIn: max(40, 4*s.Roles), FailOneIn: 12},
		Rate: 1 + s.Skew*(2*s.Rand.Float64()-1), Offset: s.Below(48*time.Hour) - 24*time.Hour,
	}
	for _, role := range s.roles {
		cfg := election.RoleConfig{Role: role}
		if s.Ranked {
			cfg.Priority, cfg.AllowPriorityTakeover = 1+s.Rand.IntN(100), true
		}
		plan.Roles = append(plan.Roles, cfg)
	}
	s.a.Note("%s joins: TTL %v, clock rate %.3f", name, cfg.TTL, plan.Rate)
	return s.a.Join(plan)
}

// someone is a process that takes part.
func (s *electionStorm) someone() *Process {
	alive := s.a.Alive()
	if len(alive) == 0 {
		return nil
	}
	return alive[s.Rand.IntN(len(alive))]
}

func (s *electionStorm) role() string { return s.roles[s.Rand.IntN(len(s.roles))] }

// target prefers the process that was hit last, since it takes two faults to make a disaster, and
// one that leads something, since faults elsewhere are seldom noticed.
func (s *electionStorm) target() *Process {
	if s.Rand.IntN(3) == 0 && s.victim != nil && s.victim.Alive() {
		return s.victim
	}
	if s.Rand.IntN(3) > 0 {
		if p := s.a.Leader(s.role()); p != nil && p.Alive() {
			return p
		}
	}
	return s.someone()
}

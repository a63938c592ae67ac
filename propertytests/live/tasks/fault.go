package tasks

import (
	"context"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

type taskFault = storm.Fault[*taskStorm, *Process]

// peaceful are those of a storm in which nothing breaks.
var peaceful = map[string]bool{"rolling restart": true, "join": true, "leave": true, "step down": true}

// faults are all that can go wrong in a storm of tasks.
var faults = append(storm.OfPaths[*taskStorm](), []taskFault{
	storm.Of("restart", 4, (*taskStorm).restart),
	storm.Of("crash", 4, (*taskStorm).crash),
	storm.Of("double", 2, (*taskStorm).Double),
	storm.Of("join", 2, (*taskStorm).grow),
	storm.Of("leave", 3, (*taskStorm).shrink),
	storm.Of("rolling restart", 2, (*taskStorm).roll),
	storm.Of("evict", 4, (*taskStorm).evict),
	storm.Of("step down", 3, (*taskStorm).stepDown),
	storm.Of("client's path", 6, (*taskStorm).client),
}...)

// FaultNames are the names under which a Tally counts the faults of a storm, "fault/" before each.
func FaultNames(restarts bool) []string { return storm.Names(faults, restarts) }

// strike throws one fault.
func (s *taskStorm) strike() {
	can := faults
	if s.Peaceful {
		can = slices.DeleteFunc(slices.Clone(can), func(f taskFault) bool { return !peaceful[f.Name] })
	}
	f := storm.Draw(s.Rand, can)
	if p := s.target(); p != nil {
		storm.Throw(s, &s.Weather, f, p)
	}
}

// target is the leader, every other time.
func (s *taskStorm) target() *Process {
	if p := s.a.Leader(); p != nil && s.Rand.IntN(2) == 0 {
		return p
	}
	alive := s.a.Alive()
	if len(alive) == 0 {
		return nil
	}
	return alive[s.Rand.IntN(len(alive))]
}

func (s *taskStorm) restart(*Process) bool {
	if !s.Restarts {
		return false
	}
	s.a.Restarts = true
	return s.Restart(s.a.TB, s.a.Server)
}

// crash counts schedulers apart.
func (s *taskStorm) crash(p *Process) bool {
	if s.a.Leader() == p {
		s.a.Tally.Add("scheduler crashed", 1)
	}
	return s.Crash(p)
}

func (s *taskStorm) grow(*Process) bool {
	if len(s.a.Alive()) >= s.Candidates+s.Workers+3 {
		return false
	}
	s.join(s.Rand.IntN(2) == 0, "")
	return true
}

func (s *taskStorm) shrink(p *Process) bool {
	if len(s.a.Alive()) < 4 {
		return false
	}
	p.Leave()
	s.Doom(p, 6*s.a.TTL)
	return true
}

// roll restarts every process in turn, cleanly: each comes back under its name when it has
// gone, or is replaced by another before it goes.
func (s *taskStorm) roll(*Process) bool {
	surge := s.oneIn(2)
	for _, p := range s.a.Alive() {
		if surge {
			s.join(p.Worker, "")
			s.Pass(s.upTo(s.a.TTL))
		}
		p.Leave()
		s.Doom(p, 6*s.a.TTL)
		for waited := time.Duration(0); p.open() && waited < 6*s.a.TTL; waited += s.a.TTL / 20 { // its path may be broken
			s.Pass(s.a.TTL / 20)
		}
		if !surge {
			s.join(p.Worker, p.Name)
		}
		s.Pass(s.upTo(s.a.TTL))
	}
	return true
}

func (s *taskStorm) evict(*Process) bool {
	return storm.Evict(s.a.conns[0], s.a.Name, func() string { return Role })
}

func (s *taskStorm) stepDown(*Process) bool {
	p := s.a.Leader()
	if p == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.a.TTL)
	defer cancel()
	return p.Election.StepDown(ctx) == nil
}

// client breaks the path of a submitter.
func (s *taskStorm) client(*Process) bool {
	l := s.a.Path
	[]func(){
		l.Cut, func() { l.CutOneWay(natsrun.ToClient) }, func() { l.Hold(natsrun.ToServer) },
		func() { l.Hold(natsrun.ToClient) },
		l.Reset, func() { l.Delay(s.Below(s.a.TTL)) },
	}[s.Rand.IntN(6)]()
	return true
}

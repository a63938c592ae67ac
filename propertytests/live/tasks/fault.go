package tasks

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// fault is one thing that goes wrong. weight is how often it is drawn, against the others.
type fault struct {
	name   string
	weight int
	strike func(s *storm, p *Process) bool // false: it could not be done
}

// peaceful are those of a storm in which nothing breaks.
var peaceful = map[string]bool{"rolling restart": true, "join": true, "leave": true, "step down": true}

var faults = []fault{
	{"cut", 4, func(s *storm, p *Process) bool { p.Link.Cut(); s.hurt(p); return true }},
	{"cut to server", 3, func(s *storm, p *Process) bool { p.Link.CutOneWay(natsrun.ToServer); s.hurt(p); return true }},
	{"cut to client", 3, func(s *storm, p *Process) bool { p.Link.CutOneWay(natsrun.ToClient); s.hurt(p); return true }},
	{"hold to server", 4, func(s *storm, p *Process) bool { p.Link.Hold(natsrun.ToServer); s.hurt(p); return true }},
	{"hold to client", 4, func(s *storm, p *Process) bool { p.Link.Hold(natsrun.ToClient); s.hurt(p); return true }},
	{"hold", 3, func(s *storm, p *Process) bool { p.Link.Hold(natsrun.Both); s.hurt(p); return true }},
	{"delay", 3, (*storm).delay},
	{"reset", 3, func(_ *storm, p *Process) bool { p.Link.Reset(); return true }},
	{"refuse", 2, func(s *storm, p *Process) bool { p.Link.Refuse(true); p.Link.Reset(); s.hurt(p); return true }},
	{"restart", 4, (*storm).restart},
	{"crash", 4, (*storm).crash},
	{"double", 2, (*storm).double},
	{"join", 2, (*storm).grow},
	{"leave", 3, (*storm).shrink},
	{"rolling restart", 2, (*storm).roll},
	{"evict", 4, (*storm).evict},
	{"step down", 3, (*storm).stepDown},
	{"client's path", 6, (*storm).client},
}

// FaultNames are the names under which a Tally counts the faults of a storm, "fault/" before each.
func FaultNames(restarts bool) (names []string) {
	for _, f := range faults {
		if f.name != "restart" || restarts {
			names = append(names, "fault/"+f.name)
		}
	}
	return names
}

// strike throws one fault.
func (s *storm) strike() {
	weight := func(f *fault) int {
		if s.Peaceful && !peaceful[f.name] {
			return 0
		}
		return f.weight
	}
	total := 0
	for i := range faults {
		total += weight(&faults[i])
	}
	n := s.rng.IntN(total)
	for i := range faults {
		f := &faults[i]
		if n -= weight(f); n >= 0 {
			continue
		}
		if p := s.target(); p != nil {
			s.a.Note("fault: %s (%s)", f.name, p)
			if f.strike(s, p) {
				s.a.Tally.Add("fault/"+f.name, 1)
				s.a.Tally.Add("faults", 1)
			}
		}
		return
	}
}

// target is the leader, every other time.
func (s *storm) target() *Process {
	if p := s.a.Leader(); p != nil && s.rng.IntN(2) == 0 {
		return p
	}
	alive := s.a.Alive()
	if len(alive) == 0 {
		return nil
	}
	return alive[s.rng.IntN(len(alive))]
}

// hurt remembers a path that is to be healed.
func (s *storm) hurt(p *Process) { s.broken = append(s.broken, p) }

func (s *storm) healOne() {
	if len(s.broken) == 0 {
		s.a.Path.Heal()
		return
	}
	i := s.rng.IntN(len(s.broken))
	p := s.broken[i]
	s.broken = append(s.broken[:i], s.broken[i+1:]...)
	s.heal(p)
}

func (s *storm) heal(p *Process) {
	if p.Alive() { // what was crashed stays away
		s.a.Note("heal %s", p)
		p.Link.Heal()
	}
}

func (s *storm) delay(p *Process) bool {
	p.Link.DelayDir(natsrun.Direction(1+s.rng.IntN(3)), time.Duration(s.rng.Int64N(int64(s.a.TTL/2))))
	s.hurt(p)
	return true
}

func (s *storm) restart(*Process) bool {
	if !s.Restarts {
		return false
	}
	s.a.Restarts = true
	s.a.Server.Stop()
	s.pass(time.Duration(s.rng.Int64N(int64(s.a.TTL))))
	if err := s.a.Server.Restart(); err != nil {
		s.a.TB.Fatal(err)
	}
	return true
}

// crash cuts a process off for ever. As often as not it comes back under its name, as if it had been started again.
func (s *storm) crash(p *Process) bool {
	if s.a.Leader() == p {
		s.a.Tally.Add("scheduler crashed", 1)
	}
	p.Crash()
	s.doomed = append(s.doomed, doom{p, time.Now().Add(3 * s.a.TTL)})
	name := ""
	if s.rng.IntN(2) == 0 {
		name = p.Name
	}
	s.join(p.Worker, name)
	return true
}

// double starts a second process under a name while the first is cut off, and lets the first come back.
func (s *storm) double(p *Process) bool {
	p.Link.Hold(natsrun.Both)
	s.join(p.Worker, p.Name)
	s.hurt(p)
	return true
}

func (s *storm) grow(*Process) bool {
	if len(s.a.Alive()) >= s.Candidates+s.Workers+3 {
		return false
	}
	s.join(s.rng.IntN(2) == 0, "")
	return true
}

func (s *storm) shrink(p *Process) bool {
	if len(s.a.Alive()) < 4 {
		return false
	}
	p.Leave()
	s.doomed = append(s.doomed, doom{p, time.Now().Add(6 * s.a.TTL)})
	return true
}

// roll restarts every process in turn, in good order: each comes back under its name when it has gone, or is replaced by another
// before it goes.
func (s *storm) roll(*Process) bool {
	surge := s.oneIn(2)
	for _, p := range s.a.Alive() {
		if surge {
			s.join(p.Worker, "")
			s.pass(s.upTo(s.a.TTL))
		}
		p.Leave()
		s.doomed = append(s.doomed, doom{p, time.Now().Add(6 * s.a.TTL)})
		for waited := time.Duration(0); p.open() && waited < 6*s.a.TTL; waited += s.a.TTL / 20 { // its path may be broken
			s.pass(s.a.TTL / 20)
		}
		if !surge {
			s.join(p.Worker, p.Name)
		}
		s.pass(s.upTo(s.a.TTL))
	}
	return true
}

func (s *storm) evict(*Process) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	o, err := election.Observe(ctx, s.a.conns[0], s.a.Name)
	if err != nil {
		return false
	}
	defer o.Close()
	info, _ := o.Role(Role)
	return info.Epoch != 0 && o.Evict(ctx, Role, info.Epoch) == nil
}

func (s *storm) stepDown(*Process) bool {
	p := s.a.Leader()
	if p == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.a.TTL)
	defer cancel()
	return p.Election.StepDown(ctx) == nil
}

// client breaks the path of who submits.
func (s *storm) client(*Process) bool {
	l := s.a.Path
	[]func(){
		l.Cut, func() { l.CutOneWay(natsrun.ToClient) }, func() { l.Hold(natsrun.ToServer) }, func() { l.Hold(natsrun.ToClient) },
		l.Reset, func() { l.Delay(time.Duration(s.rng.Int64N(int64(s.a.TTL)))) },
	}[s.rng.IntN(6)]()
	return true
}

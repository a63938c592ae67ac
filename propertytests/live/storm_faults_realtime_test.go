//go:build realtime

package live_test

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// clusterFault is a kind of fault, by the name under which it is counted. strike begins one, and
// says what it is and what ends it: nothing when it cannot be done now, and no end for what does
// not last.
type clusterFault struct {
	name   string
	strike func(s *clusterStorm) (what string, end func())
}

var clusterFaults = []clusterFault{
	{"servers stopped", func(s *clusterStorm) (string, func()) { return s.takeDown("stopped", s.c.Stop) }},
	{"servers killed", func(s *clusterStorm) (string, func()) { return s.takeDown("killed", s.c.Kill) }},
	{"routes cut", func(s *clusterStorm) (string, func()) { return s.route("cut", s.paths.lost, true) }},
	{"routes cut one way", func(s *clusterStorm) (string, func()) { return s.route("cut", s.paths.lost, false) }},
	{"routes held", func(s *clusterStorm) (string, func()) { return s.route("held", s.paths.held, s.rng.IntN(2) == 0) }},
	{"stream leaders isolated", func(s *clusterStorm) (string, func()) { return s.isolate(true) }},
	{"followers isolated", func(s *clusterStorm) (string, func()) { return s.isolate(false) }},
	{"stream leaders moved", (*clusterStorm).moveLeader},
	{"links cut", func(s *clusterStorm) (string, func()) {
		return s.link("cut", (*natsrun.Link).CutOneWay, natsrun.Both)
	}},
	{"links cut one way", func(s *clusterStorm) (string, func()) {
		return s.link("cut", (*natsrun.Link).CutOneWay, s.oneWay())
	}},
	{"links held", func(s *clusterStorm) (string, func()) {
		one, perhapsTheOther := s.oneWay(), s.oneWay()
		return s.link("held", (*natsrun.Link).Hold, one|perhapsTheOther)
	}},
	{"roles stepped down from", (*clusterStorm).stepDown},
}

// takeDown takes a server down that is up, and brings it back on its files.
func (s *clusterStorm) takeDown(how string, take func(i int)) (what string, end func()) {
	i := s.rng.IntN(s.c.Size())
	if s.c.Server(i).Running() == nil {
		return "", nil
	}
	take(i)
	return fmt.Sprintf("n%d is %s", i, how), func() {
		if err := s.c.Restart(i); err != nil {
			s.t.Fatal(err)
		}
	}
}

// route puts a fault between two servers, both ways or one way.
func (s *clusterStorm) route(how string, kind map[[2]int]int, both bool) (what string, end func()) {
	two := s.rng.Perm(s.c.Size())[:2]
	ways := [][2]int{{two[0], two[1]}}
	if both {
		ways = append(ways, [2]int{two[1], two[0]})
	}
	return fmt.Sprintf("from n%d to n%d is %s, both ways %t", two[0], two[1], how, both), s.paths.add(kind, ways...)
}

// isolate cuts a server off from both others: the one that leads the roles' stream, or one that
// does not. As a rule it is one to which the leader of a role is connected, who stays so.
func (s *clusterStorm) isolate(leader bool) (what string, end func()) {
	leads, ok := s.c.LeaderOf(stream)
	i := s.rng.IntN(s.c.Size())
	if p := s.a.Leader(s.role()); p != nil && s.rng.IntN(4) > 0 {
		i = max(0, slices.Index([]string{"n0", "n1", "n2"}, p.Conn.ConnectedServerName()))
	}
	if !ok || (i == leads) != leader || s.c.Server(i).Running() == nil {
		return "", nil
	}
	var ways [][2]int
	for j := range s.c.Size() {
		if j != i {
			ways = append(ways, [2]int{i, j}, [2]int{j, i})
		}
	}
	return fmt.Sprintf("n%d is isolated, leads the stream %t", i, leader), s.paths.add(s.paths.lost, ways...)
}

// moveLeader has the stream's leader step down.
func (s *clusterStorm) moveLeader() (what string, end func()) {
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Second)
	defer cancel()
	from, to, err := s.c.MoveLeader(ctx, stream)
	if err != nil {
		return "", nil
	}
	return fmt.Sprintf("n%d leads the stream after n%d", to, from), nil
}

// link puts a fault on a candidate's own path: a leader's as a rule.
func (s *clusterStorm) link(how string, put func(*natsrun.Link, natsrun.Direction),
	dir natsrun.Direction,
) (what string, end func()) {
	all := s.a.Processes()
	p := all[s.rng.IntN(len(all))]
	if l := s.a.Leader(s.role()); l != nil && s.rng.IntN(3) > 0 {
		p = l
	}
	if s.hurt[p] {
		return "", nil
	}
	s.hurt[p] = true
	put(p.Link, dir)
	return fmt.Sprintf("%s's link is %s, direction %d", p, how, dir), func() {
		delete(s.hurt, p)
		p.Link.Heal()
	}
}

// stepDown has an operator ask a leader to give its role away.
func (s *clusterStorm) stepDown() (what string, end func()) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Second)
	defer cancel()
	o, err := election.Observe(ctx, s.a.Operator(), elections.Bucket)
	if err != nil {
		return "", nil
	}
	defer o.Close()
	r := s.role()
	info, _ := o.Role(r)
	if _, err := o.StepDown(ctx, r, info.Epoch); err != nil {
		return "", nil
	}
	return fmt.Sprintf("%s gives %s away, epoch %d", info.Leader, r, info.Epoch), nil
}

func (s *clusterStorm) oneWay() natsrun.Direction {
	return []natsrun.Direction{natsrun.ToServer, natsrun.ToClient}[s.rng.IntN(2)]
}

func (s *clusterStorm) role() string { return s.roles[s.rng.IntN(len(s.roles))] }

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/examples/datacenters/internal/lab"
)

// story is what happens to the sites. Its processes are goroutines of this program, so one clock
// times them all.
type story struct {
	lab       *lab.Lab
	journal   *journal
	worst     bool
	processes map[string]*running
	conn      *nats.Conn         // of an operator at the last site
	observer  *election.Observer // of the bucket of all sites, over conn
	broken    []error            // promises
}

func (s *story) say(format string, args ...any) {
	fmt.Printf("%7.3fs  %s\n", s.journal.now().Seconds(), fmt.Sprintf(format, args...))
}

// tell plays the story.
func (s *story) tell(ctx context.Context) error {
	s.say("three sites, each with NATS of its own, and a cluster over all three")
	for _, chapter := range []func(context.Context) error{
		s.begin, s.cutOff, s.workAlone, s.comeBack, s.drain, s.undrain,
	} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin starts two processes at each site, and waits until all of them know each other.
func (s *story) begin(ctx context.Context) (err error) {
	for _, site := range sites {
		for n := range 2 {
			s.start(site, fmt.Sprint(site, "-", n+1))
			if _, err := s.journal.find(ctx, site, func(term) bool { return true }); err != nil {
				return err
			}
		}
		if site == sites[0] {
			if _, err := s.journal.find(ctx, planner, func(term) bool { return true }); err != nil {
				return err
			}
		}
	}
	if s.conn, err = nats.Connect(s.lab.URL(sites[2])); err != nil {
		return err
	}
	if s.observer, err = election.Observe(ctx, s.conn, everywhere, election.WithDomain(lab.Hub)); err != nil {
		return err
	}
	if err := s.until(ctx, func() bool { return len(s.observer.Members()) == 2*len(sites) }); err != nil {
		return err
	}
	var own []string
	for _, site := range sites {
		own = append(own, s.last(site).id)
	}
	s.say("each has a leader of its own, %v; %s leads %s, the role of all sites", own, s.last(planner).id, planner)
	return s.lab.Place(ctx, sites[0], "KV_"+everywhere, s.worst)
}

// cutOff drops every byte between the site that leads planner and the others.
func (s *story) cutOff(ctx context.Context) error {
	var own []term
	for _, site := range sites {
		own = append(own, s.last(site))
	}
	was := s.last(planner)
	if err := s.lab.Cut(was.site); err != nil {
		return err
	}
	cut := s.journal.now()
	s.say("%s is cut off: not a byte leaves or reaches it", was.site)
	was, err := s.journal.find(ctx, planner, func(t term) bool { return t.epoch == was.epoch && t.over })
	if err != nil {
		return err
	}
	s.say("%s stops %s by its own clock, %v after the cut; it still leads %s",
		was.id, planner, short(was.stopped-cut), was.site)
	next, err := s.journal.find(ctx, planner, after(was))
	if err != nil {
		return err
	}
	s.say("%s leads %s, %v after the cut", next.id, planner, short(next.from-cut))
	for _, one := range own {
		if last := s.last(one.role); last.epoch != one.epoch || last.over {
			s.broken = append(s.broken, fmt.Errorf("%s has lost its own leader, %s", one.role, one.id))
		}
	}
	return nil
}

// workAlone stops the leader of the site that is cut off: the other process leads there.
func (s *story) workAlone(ctx context.Context) error {
	was := s.last(sites[0])
	if err := s.end(was.id); err != nil {
		return err
	}
	next, err := s.journal.find(ctx, sites[0], after(was))
	if err != nil {
		return err
	}
	s.say("%s is stopped meanwhile: %s leads %s, %v after that work has returned",
		was.id, next.id, next.role, short(next.from-s.before(next).to))
	return nil
}

// comeBack ends the cut: planner returns to the better site when that has settled.
func (s *story) comeBack(ctx context.Context) error {
	since := s.last(planner)
	s.lab.Heal()
	s.say("%s is back", sites[0])
	return s.moved(ctx, since, func(t term) bool { return t.site == sites[0] })
}

// drain does what rolectl zone drain does. Nobody who has just given planner up would take it, so
// that time passes before.
func (s *story) drain(ctx context.Context) error {
	select {
	case <-time.After(ttl): // the default CoolDown
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	since := s.last(planner)
	s.say("$ rolectl zone drain %s --reason 'power works'", sites[0])
	if err := s.observer.DrainZone(ctx, sites[0], election.Steering{By: "ops", Reason: "power works"}); err != nil {
		return err
	}
	return s.moved(ctx, since, func(t term) bool { return t.site != sites[0] })
}

// undrain does what rolectl zone undrain does.
func (s *story) undrain(ctx context.Context) error {
	since := s.last(planner)
	s.say("$ rolectl zone undrain %s", sites[0])
	if err := s.observer.UndrainZone(ctx, sites[0]); err != nil {
		return err
	}
	return s.moved(ctx, since, func(t term) bool { return t.site == sites[0] })
}

// moved tells each term of planner since one, until one is where it should be.
func (s *story) moved(ctx context.Context, since term, there func(term) bool) error {
	for {
		next, err := s.journal.find(ctx, planner, after(since))
		if err != nil {
			return err
		}
		s.say("%s hands %s to %s, which begins %v after that work has returned",
			s.before(next).id, planner, next.id, short(next.from-s.before(next).to))
		if there(next) {
			return nil
		}
		since = next
	}
}

// last is the present or last term of a role.
func (s *story) last(role string) (last term) {
	if all := s.journal.of(role); len(all) > 0 {
		last = all[len(all)-1]
	}
	return last
}

// before is the term before one.
func (s *story) before(next term) (before term) {
	for _, t := range s.journal.of(next.role) {
		if t.epoch < next.epoch {
			before = t
		}
	}
	return before
}

// until waits until something is true.
func (s *story) until(ctx context.Context, is func() bool) error {
	for !is() {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// after is true of the terms after one.
func after(before term) func(term) bool { return func(t term) bool { return t.epoch > before.epoch } }

// short is a duration that can be read.
func short(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

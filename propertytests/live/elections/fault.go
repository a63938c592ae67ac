package elections

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// fault is one thing that goes wrong. weight is how often it is drawn, against the others.
type fault struct {
	name   string
	weight int
	strike func(s *storm, p *Process) bool // false: it could not be done
}

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
	{"restart", 5, (*storm).restart},
	{"crash", 3, (*storm).crash},
	{"double", 2, (*storm).double},
	{"join", 2, (*storm).grow},
	{"leave", 2, (*storm).shrink},
	{"evict", 4, (*storm).evict},
	{"delete role", 2, (*storm).deleteRole},
	{"garble role", 2, (*storm).garbleRole},
	{"delete lease", 2, (*storm).deleteLease},
	{"garble lease", 2, (*storm).garbleLease},
	{"garble member", 2, (*storm).garbleMember},
	{"stall watches", 2, (*storm).stallWatches},
	{"step down", 3, (*storm).stepDown},
	{"transfer", 3, (*storm).transfer},
}

// kinds are the faults that a storm can have.
func kinds(restarts bool) (can []fault) {
	for _, f := range faults {
		if f.name != "restart" || restarts {
			can = append(can, f)
		}
	}
	return can
}

// FaultNames are the names under which a Tally counts the faults of a storm, "fault/" before each.
func FaultNames(restarts bool) (names []string) {
	for _, f := range kinds(restarts) {
		names = append(names, "fault/"+f.name)
	}
	return names
}

// strike throws the next fault.
func (s *storm) strike() {
	p := s.target()
	if p == nil {
		return
	}
	s.victim = p
	f := s.deck.draw(s.rng)
	s.a.Note("fault: %s (%s)", f.name, p)
	if f.strike(s, p) {
		s.deck.struck(f)
		s.a.Tally.Add("fault/"+f.name, 1)
		s.a.Tally.Add("faults", 1)
	}
}

// hurt remembers a path that is to be healed.
func (s *storm) hurt(p *Process) { s.broken = append(s.broken, p) }

func (s *storm) healOne() {
	if len(s.broken) == 0 {
		return
	}
	i := s.rng.IntN(len(s.broken))
	p := s.broken[i]
	s.broken = append(s.broken[:i], s.broken[i+1:]...)
	s.heal(p)
}

func (s *storm) heal(p *Process) {
	if !p.crashed.Load() {
		s.a.Note("heal %s", p)
		p.Link.Heal()
	}
}

func (s *storm) delay(p *Process) bool {
	p.Link.DelayDir(natsrun.Direction(1+s.rng.IntN(3)), time.Duration(s.rng.Int64N(int64(s.TTL/2))))
	s.hurt(p)
	return true
}

func (s *storm) restart(*Process) bool {
	s.a.Server.Stop()
	s.pass(time.Duration(s.rng.Int64N(int64(s.TTL))))
	if err := s.a.Server.Restart(); err != nil {
		s.a.TB.Fatal(err)
	}
	return true
}

// crash cuts a process off for ever. As often as not it comes back under its name, as if it had been started again.
func (s *storm) crash(p *Process) bool {
	p.Crash()
	s.doomed = append(s.doomed, doom{p, time.Now().Add(3 * s.TTL)})
	name := ""
	if s.rng.IntN(2) == 0 {
		name = p.Name
	}
	s.join(name)
	return true
}

// double starts a second process under a name while the first is cut off, and lets the first come back.
func (s *storm) double(p *Process) bool {
	p.Link.Hold(natsrun.Both)
	s.join(p.Name)
	s.hurt(p)
	return true
}

func (s *storm) grow(*Process) bool {
	if len(s.a.Alive()) >= s.Processes+3 {
		return false
	}
	p := s.join("")
	p.wg.Go(func() {
		if p.Opened() == nil {
			s.a.Tally.Add(joined, 1)
		}
	})
	return true
}

func (s *storm) shrink(p *Process) bool {
	if len(s.a.Alive()) < 3 {
		return false
	}
	p.gone.Store(true)
	p.wg.Go(func() { // its work may drain while the storm goes on; what is not drained keeps its lease
		_ = p.Session.Close(context.Background())
	})
	s.doomed = append(s.doomed, doom{p, time.Now().Add(6 * s.TTL)})
	return true
}

func (s *storm) evict(*Process) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	o, err := election.Observe(ctx, s.a.operator, Bucket)
	if err != nil {
		return false
	}
	defer o.Close()
	role := s.role()
	info, _ := o.Role(role)
	return info.Epoch != 0 && o.Evict(ctx, role, info.Epoch) == nil
}

func (s *storm) change(f func(ctx context.Context, kv jetstream.KeyValue) error) bool {
	kv, err := s.a.KV()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.wiped = true
	return f(ctx, kv) == nil
}

func (s *storm) deleteRole(*Process) bool {
	key := "role." + s.role()
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error {
		if s.rng.IntN(2) == 0 {
			return kv.Purge(ctx, key)
		}
		return kv.Delete(ctx, key)
	})
}

func (s *storm) garbleRole(*Process) bool {
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error {
		_, err := kv.Put(ctx, "role."+s.role(), []byte("{not a record"))
		return err
	})
}

func (s *storm) deleteLease(p *Process) bool {
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error { return kv.Delete(ctx, "lease."+p.Name) })
}

func (s *storm) garbleLease(p *Process) bool {
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error {
		_, err := kv.Put(ctx, "lease."+p.Name, []byte{0xff, 0})
		return err
	})
}

func (s *storm) garbleMember(p *Process) bool {
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error {
		_, err := kv.Put(ctx, "member."+p.Name, []byte(`{"v":1,"session":7}`))
		return err
	})
}

// stallWatches lets every watch of a process hear that all is well, and nothing else, for a while; then somebody is evicted.
// The operator's own watches go on: the Chronicle is to see everything.
func (s *storm) stallWatches(p *Process) bool {
	js, err := jetstream.New(s.a.operator)
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	stream, err := js.Stream(ctx, "KV_"+Bucket)
	if err != nil {
		return false
	}
	until := time.Now().Add(2 * s.TTL)
	paused := true
	for consumer := range stream.ListConsumers(ctx).Info() { // to its end: the library's goroutine waits for that
		if paused && !strings.HasPrefix(consumer.Config.DeliverSubject, operatorInbox) {
			_, err := stream.PauseConsumer(ctx, consumer.Name, until)
			paused = err == nil
		}
	}
	return paused && s.evict(p)
}

func (s *storm) stepDown(p *Process) bool {
	ctx, cancel := context.WithTimeout(context.Background(), s.TTL)
	defer cancel()
	return p.Elections[s.role()].StepDown(ctx) == nil
}

func (s *storm) transfer(*Process) bool {
	role, to := s.role(), s.someone()
	from := s.a.Leader(role)
	if from == nil || to == nil || from == to {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.TTL)
	defer cancel()
	return from.Elections[role].Transfer(ctx, to.Name) == nil
}

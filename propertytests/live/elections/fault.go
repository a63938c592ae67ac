package elections

import (
	"context"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

// faults are all that can go wrong in a storm of elections.
var faults = append(storm.OfPaths[*electionStorm](), []electionFault{
	storm.Of("restart", 5, (*electionStorm).restart),
	storm.Of("crash", 3, (*electionStorm).Crash),
	storm.Of("double", 2, (*electionStorm).Double),
	storm.Of("join", 2, (*electionStorm).grow),
	storm.Of("leave", 2, (*electionStorm).shrink),
	storm.Of("evict", 4, (*electionStorm).evict),
	storm.Of("delete role", 2, (*electionStorm).deleteRole),
	storm.Of("garble role", 2, (*electionStorm).garbleRole),
	storm.Of("delete lease", 2, (*electionStorm).deleteLease),
	storm.Of("garble lease", 2, (*electionStorm).garbleLease),
	storm.Of("garble member", 2, (*electionStorm).garbleMember),
	storm.Of("stall watches", 2, (*electionStorm).stallWatches),
	storm.Of("step down", 3, (*electionStorm).stepDown),
	storm.Of("transfer", 3, (*electionStorm).transfer),
}...)

// FaultNames are the names under which a Tally counts the faults of a storm, "fault/" before each.
func FaultNames(restarts bool) []string { return storm.Names(faults, restarts) }

// strike throws the next fault.
func (s *electionStorm) strike() {
	p := s.target()
	if p == nil {
		return
	}
	s.victim = p
	f := s.deck.draw(s.Rand)
	if storm.Throw(s, &s.Weather, f, p) {
		s.deck.struck(f)
	}
}

func (s *electionStorm) restart(*Process) bool { return s.Restart(s.a.TB, s.a.Server) }

func (s *electionStorm) grow(*Process) bool {
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

func (s *electionStorm) shrink(p *Process) bool {
	if len(s.a.Alive()) < 3 {
		return false
	}
	p.gone.Store(true)
	p.wg.Go(func() { // its work may drain while the storm lasts; what is not drained keeps its lease
		_ = p.Session.Close(context.Background())
	})
	s.Doom(p, 6*s.TTL)
	return true
}

func (s *electionStorm) evict(*Process) bool { return storm.Evict(s.a.operator, Bucket, s.role) }

func (s *electionStorm) change(f func(ctx context.Context, kv jetstream.KeyValue) error) bool {
	kv, err := s.a.KV()
	if err != nil {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	s.wiped = true
	return f(ctx, kv) == nil
}

func (s *electionStorm) deleteRole(*Process) bool {
	key := "c.role." + s.role()
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error {
		if s.Rand.IntN(2) == 0 {
			return kv.Purge(ctx, key)
		}
		return kv.Delete(ctx, key)
	})
}

func (s *electionStorm) garbleRole(*Process) bool {
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error {
		_, err := kv.Put(ctx, "c.role."+s.role(), []byte("{not a record"))
		return err
	})
}

func (s *electionStorm) deleteLease(p *Process) bool {
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error { return kv.Delete(ctx, "c.lease."+p.Name) })
}

func (s *electionStorm) garbleLease(p *Process) bool {
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error {
		_, err := kv.Put(ctx, "c.lease."+p.Name, []byte{0xff, 0})
		return err
	})
}

func (s *electionStorm) garbleMember(p *Process) bool {
	return s.change(func(ctx context.Context, kv jetstream.KeyValue) error {
		_, err := kv.Put(ctx, "c.member."+p.Name, []byte(`{"v":1,"session":7}`))
		return err
	})
}

// stallWatches lets every watch of a process hear that all is well, and nothing else, for a while;
// then somebody is evicted. The operator's own watches continue: the RecordLog is to see
// everything.
func (s *electionStorm) stallWatches(p *Process) bool {
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

func (s *electionStorm) stepDown(p *Process) bool {
	ctx, cancel := context.WithTimeout(context.Background(), s.TTL)
	defer cancel()
	return p.Elections[s.role()].StepDown(ctx) == nil
}

func (s *electionStorm) transfer(*Process) bool {
	role, to := s.role(), s.someone()
	from := s.a.Leader(role)
	if from == nil || to == nil || from == to {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.TTL)
	defer cancel()
	return from.Elections[role].Transfer(ctx, to.Name) == nil
}

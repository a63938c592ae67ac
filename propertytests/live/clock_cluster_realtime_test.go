//go:build realtime

package live_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// stepped is a cluster whose servers' clocks step, with what takes part in it.
type stepped struct {
	t *testing.T
	c *natsrun.ProcessCluster
	a *elections.Arena
	b *books

	longest time.Duration // from a leader's loss until the next has written
	refused int
}

// stepWorkers hold leases and lead nothing.
var stepWorkers = []string{"v", "w"}

func onStepping(t *testing.T) *stepped {
	t.Helper()
	c := natstest.SteppingCluster(t)
	b := openBooks(t, c, fencedStore)
	s := &stepped{t: t, c: c, a: elections.New(t, c, jetstream.FileStorage), b: b}
	for _, name := range []string{"a", "b", "c"} {
		s.a.Join(plan(name, func(p *elections.Plan) {
			p.Session = election.SessionConfig{TTL: steppedTTL}
			p.Work.Do = b.keep
		}))
	}
	for _, name := range stepWorkers {
		s.a.Join(elections.Plan{Name: name, Session: election.SessionConfig{TTL: steppedTTL, WorkerOnly: true}})
	}
	// Until every server has heard of every other one, the two that are left refuse to make a store
	// of three replicas. So no server is killed before that is there.
	b.writer(s.a, 0)
	return s
}

// leads waits until the roles' stream says who leads it.
func (s *stepped) leads() (i int) {
	s.t.Helper()
	return leaderOf(s.t, s.c, s.a.Operator(), stream)
}

func leaderOf(t *testing.T, c *natsrun.ProcessCluster, nc *nats.Conn, stream string) (i int) {
	t.Helper()
	natstest.Eventually(t, stream+" has a leader", patience, func() (ok bool, seen string) {
		var err error
		i, err = c.LeaderOf(t.Context(), nc, stream)
		return err == nil, fmt.Sprint(err)
	})
	return i
}

// steps moves the clock of a server, has the role change hands afterwards, and waits until
// everybody has beaten: a lease that was stamped by a clock half a minute behind has run out by one
// half a minute ahead.
func (s *stepped) steps(server int, d time.Duration, cut bool) {
	s.t.Helper()
	s.a.Note("the clock of n%d steps by %v, and is %v ahead", server, d, step(s.t, s.c.Process(server), d))
	s.handOver(cut)
	s.beaten()
}

// beaten waits until everybody has beaten once more: by the lease or, where that stands idle, by
// the key beside it.
func (s *stepped) beaten() {
	s.t.Helper()
	kv, err := s.a.KV()
	if err != nil {
		s.t.Fatal(err)
	}
	since := map[string]uint64{}
	natstest.Eventually(s.t, "everybody has beaten", patience, func() (bool, string) {
		ctx, cancel := context.WithTimeout(s.t.Context(), steppedTTL)
		defer cancel()
		for _, key := range leaseKeys() {
			e, err := kv.Get(ctx, key)
			if err != nil {
				return false, fmt.Sprintf("%s: %v", key, err)
			}
			last := e.Revision()
			_, peer, _ := record.ParseKey(key)
			if beat, err := kv.Get(ctx, record.IdleKey(peer)); err == nil {
				last = max(last, beat.Revision())
			} else if !errors.Is(err, jetstream.ErrKeyNotFound) {
				return false, fmt.Sprintf("idle beats of %s: %v", peer.Instance, err)
			}
			if since[key] == 0 {
				since[key] = last
			}
			if last == since[key] {
				return false, fmt.Sprintf("%s stands at %d", key, last)
			}
		}
		return true, ""
	})
}

// leaseKeys are the keys of all leases, in order.
func leaseKeys() []string {
	keys := []string{"c.lease.a", "c.lease.b", "c.lease.c"}
	for _, name := range stepWorkers {
		keys = append(keys, "w.lease."+name)
	}
	return keys
}

// handOver takes the role from its leader: its path is cut, so that its lease runs out by
// everybody's own clock, or it steps down.
func (s *stepped) handOver(cut bool) {
	s.t.Helper()
	leader, epoch := s.b.writer(s.a, 0)
	began := time.Now()
	if !cut {
		ctx, cancel := context.WithTimeout(s.t.Context(), patience)
		defer cancel()
		if err := leader.Elections[role].StepDown(ctx); err != nil { // it may just have lost the role
			s.a.Note("%s does not step down: %v", leader, err)
			cut = true
		}
	}
	if cut {
		leader.Link.Cut()
	}
	_, next := s.b.writer(s.a, epoch)
	took := time.Since(began)
	s.longest = max(s.longest, took)
	s.t.Logf("cut %t: epoch %d after %d, %v later", cut, next, epoch, took.Round(10*time.Millisecond))
	leader.Link.Heal()
	s.b.refuse(s.t, epoch)
	s.refused++
}

// moves makes a server the leader of the roles' stream, whatever its clock says.
func (s *stepped) moves(to int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if err := s.c.MoveLeader(ctx, s.a.Operator(), stream, to); err != nil {
		s.t.Fatal(err)
	}
	s.a.Note("n%d leads the stream", to)
}

// TestRealtimeClusterClockSteps: of three servers one has its wall clock stepped half a minute
// ahead and back, and half a minute back and ahead: the one that leads the roles' stream, then
// another one, and then that is made the stream's leader while its clock is off. The role changes
// hands after each step. No two lead at once, neither ledger takes anything of an earlier epoch,
// the role is led again each time, and no lease of a session that beats is taken away, whichever
// server counts its time.
func TestRealtimeClusterClockSteps(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	s := onStepping(t)
	n := cycles(t)
	for range n {
		leader := s.leads()
		other := (leader + 1) % s.c.Size()
		for _, server := range []int{leader, other} {
			for i, d := range []time.Duration{30 * time.Second, -30 * time.Second, -30 * time.Second, 30 * time.Second} {
				s.steps(server, d, i%2 == 0)
			}
		}
		for i, d := range []time.Duration{30 * time.Second, -30 * time.Second} {
			follower := (s.leads() + 1) % s.c.Size()
			s.steps(follower, d, i == 1)
			s.moves(follower)
			s.handOver(i == 0)
			s.steps(follower, -d, false)
		}
		if s.a.Check(); t.Failed() {
			return
		}
	}
	nothingThatBeats(t, s.a)
	for server := range s.c.Size() {
		s.moves(server)
		s.leasesOn(server)
	}
	t.Logf("%d terms, %d sessions lost, %d killed; %s; %d late writes refused by each; led again after %v at most",
		len(holds(s.a, 1+14*n)), s.a.Tally.Count("SessionLost"), s.a.RecordLog.Kills(), s.b.check(t), s.refused,
		s.longest.Round(10*time.Millisecond))
	s.a.Check()
	played(t, n,
		"fourteen hand-overs, twelve of them after a step of one of three clocks, two under a stream leader whose clock is "+
			"off", s.counted())
}

// counted is what all of it has come to.
func (s *stepped) counted() (all counts) {
	all.of(s.a)
	all.add(len(s.a.RecordLog.Expired()), "live leases expired")
	s.b.count(&all)
	return all
}

// leasesOn waits until a server that leads the stream has the lease of everybody: what it holds is
// what the others held.
func (s *stepped) leasesOn(server int) {
	s.t.Helper()
	js := jetStream(s.a)
	want := leaseKeys()
	natstest.Eventually(s.t, fmt.Sprintf("n%d has every lease", server), patience, func() (bool, string) {
		ctx, cancel := context.WithTimeout(s.t.Context(), steppedTTL)
		defer cancel()
		kv, err := js.Stream(ctx, stream)
		if err != nil {
			return false, err.Error()
		}
		info, err := kv.Info(ctx, jetstream.WithSubjectFilter("$KV."+elections.Bucket+".>"))
		if err != nil {
			return false, err.Error()
		}
		var have []string
		for _, subject := range slices.Sorted(maps.Keys(info.State.Subjects)) {
			if key := strings.TrimPrefix(subject, "$KV."+elections.Bucket+"."); strings.Contains(key, ".lease.") {
				have = append(have, key)
			}
		}
		return info.Cluster.Leader == fmt.Sprintf("n%d", server) && slices.Equal(have, want),
			fmt.Sprint(info.Cluster.Leader, have)
	})
}

// TestRealtimeClusterClockLeaps: the clock of the server that leads the roles' stream leaps until
// that has taken live leases away on all three; another server leads the stream then, whose clock
// is right, and the first one's goes back. The sessions put their leases back; no two lead
// meanwhile, and somebody leads afterwards, under whichever clock.
func TestRealtimeClusterClockLeaps(t *testing.T) {
	// Each on servers of their own: one that has leapt looks for what has expired the later, the
	// farther it was.
	playEach(t, "a leap of the stream leader's clock beyond live leases, and three hand-overs under it, beside it and "+
		"after it", leapOnCluster)
}

func leapOnCluster(t *testing.T, _ int, all *counts) {
	s := onStepping(t)
	kv, err := s.a.KV()
	if err != nil {
		t.Fatal(err)
	}
	s.b.writer(s.a, 0)
	leader := s.leads()
	ahead := leap(t, s.a, s.c.Process(leader), kv)
	s.handOver(true)
	s.moves((leader + 1) % s.c.Size())
	s.handOver(true)
	step(t, s.c.Process(leader), -ahead)
	s.a.Note("back to what the clock was")
	s.moves(leader)
	s.handOver(true)
	for server := range s.c.Size() {
		s.moves(server)
		s.leasesOn(server)
	}
	t.Logf("%v ahead, %d live leases have expired; %d terms, %d sessions lost, %d killed; %s", ahead,
		len(s.a.RecordLog.Expired()),
		len(holds(s.a, 4)), s.a.Tally.Count("SessionLost"), s.a.RecordLog.Kills(), s.b.check(t))
	s.a.Check()
	for _, c := range s.counted() {
		all.add(c.n, c.what)
	}
}

// TestRealtimeClusterProcessesKilled: the process of the server that leads the roles' stream is
// killed while leaders write; the role changes hands under the other two, and it comes back. Then
// all three are killed at once, and come back.
func TestRealtimeClusterProcessesKilled(t *testing.T) {
	s := onStepping(t)
	n := cycles(t)
	for range n {
		victim := s.leads()
		s.kill(victim)
		s.handOver(true)
		s.restart(victim)
		all := []int{0, 1, 2}
		_, epoch := s.b.writer(s.a, 0)
		s.kill(all...)
		s.restart(all...)
		s.a.AwaitLeader(role, patience)
		s.b.writer(s.a, epoch-1)
		s.handOver(false)
		if s.a.Check(); t.Failed() {
			return
		}
	}
	t.Logf("%d terms, %d sessions lost, %d killed; %s; %d late writes refused by each; led again after %v at most",
		len(holds(s.a, 1+2*n)), s.a.Tally.Count("SessionLost"), s.a.RecordLog.Kills(), s.b.check(t), s.refused,
		s.longest.Round(10*time.Millisecond))
	all := s.counted()
	all.add(4*n, "servers killed")
	played(t, n, "the process killed that leads the stream, and then all three", all)
}

func (s *stepped) kill(servers ...int) {
	s.t.Helper()
	for _, i := range servers {
		s.a.Note("n%d is killed", i)
		if err := s.c.Kill(i); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *stepped) restart(servers ...int) {
	s.t.Helper()
	for _, i := range servers {
		if err := s.c.Restart(i); err != nil {
			s.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	if err := s.c.WaitReady(ctx); err != nil {
		s.t.Fatal(err)
	}
}

// TestRealtimeClusterClockTasks is TestRealtimeServerClockTasks on three servers, of which the one
// that leads the stream of the tasks has its clock stepped.
func TestRealtimeClusterClockTasks(t *testing.T) {
	c := natstest.SteppingCluster(t)
	nc, err := c.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	tasksUnderSteps(t, c, func() *natsrun.Process {
		return c.Process(leaderOf(t, c, nc, "TASKS_"+steppedTasks))
	})
}

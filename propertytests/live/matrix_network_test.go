package live_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/clock"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestSlowUpdate: every acknowledgement comes after the operation has timed out, for ten minutes.
// The watch shows what became of each write, so the leader stays.
func TestSlowUpdate(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 3)
		epoch := all[0].Epoch(role)
		all[0].Link.Delay(heartbeat * 7 / 20) // a round trip takes 1.4 times OpTimeout
		time.Sleep(10 * time.Minute)
		if a.Tally.Count("Heartbeat/unknown") == 0 {
			t.Error("no heartbeat was slow")
		}
		if got := all[0].Epoch(role); got != epoch {
			t.Errorf("epoch %d after slow minutes, want %d: %v", got, epoch, holds(a, 1))
		}
	})
}

// TestConnectionLoss: shorter than the lease it costs nothing; longer, the term ends in time and
// another leads.
func TestConnectionLoss(t *testing.T) {
	lose := func(a *elections.Arena, p *elections.Process, d time.Duration) {
		p.Link.Refuse(true)
		p.Link.Reset()
		time.Sleep(d)
		p.Link.Heal()
	}
	t.Run("shorter than the lease", func(t *testing.T) {
		inArena(t, func(t *testing.T, a *elections.Arena) {
			all := crowd(a, 3)
			for range 20 {
				lose(a, all[0], heartbeat*3/2)
				time.Sleep(ttl)
			}
			if h := holds(a, 1); len(h) != 1 || !all[0].Leads(role) {
				t.Errorf("outages that are short cost the role: %v", h)
			}
		})
	})
	t.Run("longer than the lease", func(t *testing.T) {
		inArena(t, func(t *testing.T, a *elections.Arena) {
			all := crowd(a, 3)
			time.Sleep(heartbeat / 2) // the grace period ends three heartbeats from now, and belief half a one later
			lost := time.Now()
			lose(a, all[0], 3*ttl)
			a.AwaitLead(all[1], role, soon)
			h := holds(a, 2)
			within(a, "loss to the end of the work's context", lost, h[0].Until, ttl-margin)
			within(a, "loss to takeover", lost, h[1].From, ttl+soon)
			if !errors.Is(h[0].Cause, election.ErrDisconnected) {
				t.Errorf("cause %v, want ErrDisconnected", h[0].Cause)
			}
		})
	})
}

// TestClockSkew: clocks that run 3 % apart either way, and whose walls stand a day apart, change
// nothing.
func TestClockSkew(t *testing.T) {
	for name, rates := range map[string][3]float64{"slow leader": {0.97, 1.03, 1.03}, "fast leader": {1.03, 0.97, 0.97}} {
		t.Run(name, func(t *testing.T) {
			inArena(t, func(t *testing.T, a *elections.Arena) {
				for i, rate := range rates {
					p := a.Join(plan(string(rune('a'+i)), func(p *elections.Plan) {
						p.Rate, p.Offset = rate, time.Duration(i-1)*24*time.Hour
					}))
					if err := p.Opened(); err != nil {
						t.Fatal(err)
					}
				}
				rounds := 30
				if testing.Short() {
					rounds = 6
				}
				for range rounds {
					leader := a.AwaitLeader(role, 3*ttl)
					time.Sleep(ttl)
					leader.Link.Hold(natsrun.Both)
					a.Await("another leads", role, 3*ttl, func() bool { l := a.Leader(role); return l != nil && l != leader })
					leader.Link.Heal()
					time.Sleep(ttl)
				}
			})
		})
	}
}

// TestSuspendedMachine: a machine that slept past its lease believes nothing in the first
// instruction after, before any of its goroutines could notice.
func TestSuspendedMachine(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		suspended := &leaping{Clock: clock.System()}
		p := a.Join(plan("a", func(p *elections.Plan) { p.Clock = suspended }))
		a.AwaitLead(p, role, soon)
		suspended.leap(ttl)
		if p.Leads(role) || p.Epoch(role) != 0 {
			t.Error("still leads after sleeping through its lease")
		}
		a.AwaitLead(p, role, 3*ttl)
		if h := holds(a, 2); h[0].Epoch >= h[1].Epoch {
			t.Errorf("the term was resumed: %v", h)
		}
	})
}

// TestLostAcknowledgements: the network swallows what the server answers while a candidate claims,
// a leader beats, and a leader gives its role away. The watch tells what became of each write once
// it is back.
func TestLostAcknowledgements(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 2)
		for i := range 40 {
			leader := a.AwaitLeader(role, 5*ttl)
			other := all[0]
			if other == leader {
				other = all[1]
			}
			switch i % 3 {
			case 0: // its successor's claim
				time.AfterFunc(0, func() { _ = leader.Elections[role].StepDown(t.Context()) })
				other.Link.Hold(natsrun.ToClient)
				time.Sleep(heartbeat)
				other.Link.CutOneWay(natsrun.ToClient)
			case 1: // its heartbeats
				leader.Link.CutOneWay(natsrun.ToClient)
			case 2: // its vacancy
				time.AfterFunc(0, func() { _ = leader.Elections[role].StepDown(t.Context()) })
				leader.Link.CutOneWay(natsrun.ToClient)
			}
			time.Sleep(time.Duration(i) * ttl / 20)
			leader.Link.Heal()
			other.Link.Heal()
			time.Sleep(3 * ttl)
		}
		a.AwaitLeader(role, 5*ttl)
		if missing := a.Tally.Missing("Heartbeat/unknown"); len(missing) > 0 {
			t.Errorf("nothing was lost: %q", missing)
		}
	})
}

// leaping is a clock whose machine can sleep: the holder's scale leaps ahead, the observer's stands
// still meanwhile.
type leaping struct {
	clock.Clock
	ahead atomic.Int64
}

func (c *leaping) leap(d time.Duration) { c.ahead.Store(int64(d)) }

func (c *leaping) Now() clock.Now {
	now := c.Clock.Now()
	now.Holder = now.Holder.Add(time.Duration(c.ahead.Load()))
	return now
}

func (c *leaping) Holder() clock.Instant { return c.Clock.Holder().Add(time.Duration(c.ahead.Load())) }

package live_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestSingleLeaderTakeover: of three candidates one leads; when it goes, the next in line does, one
// at a time.
func TestSingleLeaderTakeover(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 3)
		for i, p := range all {
			a.AwaitLead(p, role, soon) // equal priorities are served first come first served
			time.Sleep(time.Minute)
			if !p.Leads(role) {
				t.Fatalf("%s lost the role in a quiet minute", p)
			}
			for _, q := range all[i+1:] {
				if got := q.Elections[role].LeaderID(); got != p.Name {
					t.Errorf("%s sees %q lead, want %s", q, got, p.Name)
				}
			}
			if err := p.Leave(); err != nil {
				t.Error(err)
			}
		}
		if got := len(holds(a, 3)); got != 3 {
			t.Errorf("%d terms, want 3", got)
		}
	})
}

// TestLeaderCrash: the leader vanishes. Its own term ends before anybody else's begins, and that
// within the lease.
func TestLeaderCrash(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 3)
		crashed := time.Now()
		all[0].Crash()
		a.AwaitLead(all[1], role, 2*ttl)
		h := holds(a, 2)
		within(a, "crash to takeover", crashed, h[1].From, ttl+soon)
		if !errors.Is(h[0].Cause, election.ErrSessionLost) && !errors.Is(h[0].Cause, election.ErrDisconnected) {
			t.Errorf("the crashed leader's work ended for %v", h[0].Cause)
		}
		if got := h[1].From.Sub(h[0].Until); got <= 0 {
			t.Errorf("the next term began %v after the end of belief, want after it", got)
		}
	})
}

// TestNetworkPartition: the leader is cut off, in both directions or in one. Another leads; when
// the cut heals, the old leader follows.
func TestNetworkPartition(t *testing.T) {
	for name, dir := range map[string]natsrun.Direction{
		"both ways": natsrun.Both, "to server": natsrun.ToServer,
		"to client": natsrun.ToClient,
	} {
		t.Run(name, func(t *testing.T) {
			inArena(t, func(t *testing.T, a *elections.Arena) {
				all := crowd(a, 3)
				cut := time.Now()
				all[0].Link.CutOneWay(dir)
				a.AwaitLead(all[1], role, 3*ttl)
				within(a, "cut to takeover", cut, holds(a, 2)[1].From, 2*ttl)
				if all[0].Leads(role) {
					t.Error("two leaders")
				}
				time.Sleep(3 * ttl)
				all[0].Link.Heal()
				a.Await("the old leader follows the new one", role, 2*ttl, func() bool {
					st := all[0].Elections[role].Status()
					return st.State == election.StateFollower && st.LeaderID == all[1].Name
				})
				time.Sleep(5 * ttl)
				if len(holds(a, 2)) != 2 || !all[1].Leads(role) {
					t.Errorf("healing disturbed the new leader: %v", holds(a, 2))
				}
			})
		})
	}
}

// TestGracefulShutdown: the leader drains, then gives the role away, and the successor leads at
// once: not before, and without waiting for anything.
func TestGracefulShutdown(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 3, func(p *elections.Plan) {
			p.Work.Do = func(ctx context.Context, _ *election.Term) error {
				<-ctx.Done()
				time.Sleep(3 * time.Second) // what has to be put in order
				return nil
			}
		})
		if err := all[0].Leave(); err != nil {
			t.Error(err)
		}
		a.AwaitLead(all[1], role, soon)
		h := holds(a, 2)
		if !errors.Is(h[0].Cause, election.ErrClosed) {
			t.Errorf("cause %v, want ErrClosed", h[0].Cause)
		}
		within(a, "drained to takeover", h[0].Drained, h[1].From, soon)
	})
}

// TestPriorityTakeover: a better candidate is handed the role after the drain, once, and never by
// force. One that does not ask for it waits its turn.
func TestPriorityTakeover(t *testing.T) {
	ranked := func(priority int, takeover bool) func(*elections.Plan) {
		return func(p *elections.Plan) {
			p.Roles[0].Priority, p.Roles[0].AllowPriorityTakeover = priority, takeover
			p.Work.Drain = 2 * time.Second
		}
	}
	inArena(t, func(t *testing.T, a *elections.Arena) {
		crowd(a, 2, ranked(1, true))
		patient := a.Join(plan("patient", ranked(50, false)))
		time.Sleep(5 * ttl)
		if patient.Leads(role) {
			t.Fatal("a candidate without AllowPriorityTakeover took the role over")
		}
		joined := time.Now()
		best := a.Join(plan("best", ranked(100, true)))
		a.AwaitLead(best, role, 3*ttl)
		h := holds(a, 2)
		if !errors.Is(h[0].Cause, election.ErrOutranked) {
			t.Errorf("cause %v, want ErrOutranked", h[0].Cause)
		}
		if h[1].From.Before(h[0].Drained) {
			t.Errorf("the successor began before the drain:\n%v\n%v", h[0], h[1])
		}
		within(a, "joined to takeover", joined, h[1].From, 2*ttl)
		time.Sleep(10 * time.Minute)
		if got := len(holds(a, 2)); got != 2 || !best.Leads(role) {
			t.Errorf("%d terms, want 2: the role flaps", got)
		}
	})
}

// TestEqualPrioritiesAreServedInOrder is what a queue of waiters gets: first come, first served.
func TestEqualPrioritiesAreServedInOrder(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		all := crowd(a, 5)
		for i, p := range all {
			a.AwaitLead(p, role, soon)
			if i == len(all)-1 {
				break
			}
			if got, want := p.Elections[role].Status().Successor, all[i+1].Name; got != want {
				t.Errorf("the successor of %s is %q, want %s", p, got, want)
			}
			if err := p.Elections[role].StepDown(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

package live_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestHealthCheckFailure: a leader whose check fails, hangs or panics steps down, and is not a
// candidate until the check passes.
func TestHealthCheckFailure(t *testing.T) {
	for name, check := range map[string]func(ctx context.Context) bool{
		"fails":  func(context.Context) bool { return false },
		"hangs":  func(ctx context.Context) bool { time.Sleep(10 * ttl); return true },
		"panics": func(context.Context) bool { panic("the check") },
	} {
		t.Run(name, func(t *testing.T) {
			inArena(t, func(t *testing.T, a *elections.Arena) {
				var ill atomic.Bool
				p := a.Join(plan("ill", func(p *elections.Plan) {
					p.Roles[0].Health = election.HealthCheckFunc(func(ctx context.Context) bool { return !ill.Load() || check(ctx) })
				}))
				a.AwaitLead(p, role, soon)
				other := a.Join(plan("well"))
				time.Sleep(ttl)
				ill.Store(true)
				failed := time.Now()
				a.AwaitLead(other, role, 2*ttl)
				h := holds(a, 2)
				within(a, "failed to takeover", failed, h[1].From, 5*heartbeat)
				if !errors.Is(h[0].Cause, election.ErrUnhealthy) {
					t.Errorf("cause %v, want ErrUnhealthy", h[0].Cause)
				}
				if err := other.Elections[role].Transfer(t.Context(), "ill"); !errors.Is(err, election.ErrNotCandidate) {
					t.Errorf("the role can be handed to one that is ill: %v", err)
				}
				ill.Store(false)
				time.Sleep(15 * ttl) // a check that hangs has to return first
				if err := other.Elections[role].Transfer(t.Context(), "ill"); err != nil {
					t.Errorf("the role cannot be handed to one that is well again: %v", err)
				}
				a.AwaitLead(p, role, soon)
			})
		})
	}
}

// TestStuckLead: work that ignores its context keeps the role, is reported, and holds up neither
// the heartbeat nor another role. With VacateUndrained the role is given away after DrainTimeout.
func TestStuckLead(t *testing.T) {
	for name, vacate := range map[string]bool{"keeps the role": false, "VacateUndrained": true} {
		t.Run(name, func(t *testing.T) {
			inUndrained(t, vacate, func(t *testing.T, a *elections.Arena) {
				release := make(chan struct{})
				p := a.Join(plan("stuck", func(p *elections.Plan) {
					p.Roles[0].VacateUndrained = vacate
					p.Roles = append(p.Roles, election.RoleConfig{Role: "other"})
					p.Work.Do = func(ctx context.Context, t *election.Term) error {
						if <-ctx.Done(); t.Role() == role {
							<-release
						}
						return nil
					}
				}))
				a.AwaitLead(p, role, soon)
				other := a.Join(plan("other"))
				time.Sleep(ttl)
				go func() { _ = p.Elections[role].StepDown(t.Context()) }() // its answer comes when the role is given away
				time.Sleep(3 * ttl)
				st := p.Elections[role].Status()
				if !st.Stuck || a.Tally.Count("RoleStuck") != 1 {
					t.Errorf("the stuck role is not reported: %+v", st)
				}
				if !p.Leads("other") {
					t.Error("a stuck role cost another one")
				}
				if got := other.Leads(role); got != vacate {
					t.Errorf("a successor leads beside stuck work: %t, want %t", got, vacate)
				}
				close(release)
				a.AwaitLead(other, role, 2*ttl)
			})
		})
	}
}

// inUndrained is inArena; with VacateUndrained the role is meant to be given away too early, so
// that is not held against it.
func inUndrained(t *testing.T, undrained bool, run func(t *testing.T, a *elections.Arena)) {
	t.Helper()
	inArena(t, func(t *testing.T, a *elections.Arena) {
		a.RecordLog.Undrained = undrained
		run(t, a)
	})
}

// TestDuplicateInstanceID: a second process with the name of a live one is told so, with the
// session of the other; the first is not disturbed. The name of a crashed one is free again after
// its lease.
func TestDuplicateInstanceID(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		first := crowd(a, 1)[0]
		second := a.Join(plan("p1"))
		err := second.Opened()
		var duplicate *election.DuplicateInstanceError
		if !errors.As(err, &duplicate) || duplicate.Session != bridge.Number(first.Session) || duplicate.Instance != "p1" {
			t.Fatalf("a second process with the same id: %v", err)
		}
		for _, part := range []string{"p1", number(bridge.Number(first.Session)), "InstanceID"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q does not say %q", err, part)
			}
		}
		if !first.Leads(role) || len(holds(a, 1)) != 1 {
			t.Error("the first process was disturbed")
		}
		first.Crash()
		crashed := time.Now()
		third := a.Join(plan("p1"))
		if err := third.Opened(); err != nil {
			t.Fatal(err)
		}
		within(a, "crash to the next session of the name", crashed, time.Now(), ttl+soon)
		a.AwaitLead(third, role, 2*ttl)
	})
}

// TestHandlerPanics: whatever panics, the process continues, the term ends in order, and the role
// is led again.
func TestHandlerPanics(t *testing.T) {
	for name, with := range map[string]func(p *elections.Plan, boom func()){
		"Lead": func(p *elections.Plan, boom func()) {
			p.Work.Do = func(context.Context, *election.Term) error { boom(); return nil }
		},
		"OnPromote": func(p *elections.Plan, boom func()) {
			p.OnPromote = func(context.Context, fencing.Token) { boom() }
		},
		"OnDemote":       func(p *elections.Plan, boom func()) { p.OnDemote = boom },
		"OnLeaderChange": func(p *elections.Plan, boom func()) { p.Roles[0].OnLeaderChange = func(string) { boom() } },
		"Health": func(p *elections.Plan, boom func()) {
			p.Roles[0].Health = election.HealthCheckFunc(func(context.Context) bool { boom(); return true })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inArena(t, func(t *testing.T, a *elections.Arena) {
				p := a.Join(plan("panics", func(p *elections.Plan) { with(p, func() { panic(name) }) }))
				time.Sleep(ttl)
				other := a.Join(plan("other"))
				if name == "OnDemote" {
					if err := p.Elections[role].StepDown(t.Context()); err != nil {
						t.Error(err)
					}
				}
				if name != "OnLeaderChange" {
					a.AwaitLead(other, role, 5*ttl)
				}
				time.Sleep(time.Minute)
				select {
				case <-p.Session.Done():
					t.Errorf("the session ended: %v", p.Session.Err())
				default:
				}
				if a.Tally.Count("CallbackPanicked")+a.Tally.Count("WorkReturned/failed true, panicked true") == 0 &&
					name != "Health" {
					t.Errorf("the panic was not reported: %v", a.Tally)
				}
			})
		})
	}
}

// TestShortestTermsKeepTheirOrder: work that returns at once ends its term before the goroutine
// that calls OnPromote has got anywhere. OnDemote never overtakes it (E4).
func TestShortestTermsKeepTheirOrder(t *testing.T) {
	inArena(t, func(t *testing.T, a *elections.Arena) {
		a.Join(plan("a", func(p *elections.Plan) {
			p.Session.CoolDown = time.Second
			p.Work.Do = func(context.Context, *election.Term) error { return nil }
		}))
		time.Sleep(6 * time.Minute)
		holds(a, 300)
	})
}

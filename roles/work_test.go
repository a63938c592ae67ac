package roles_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// Work that fails ends only its own term, however it fails. The role is led again, and the log says
// what happened.
func TestWorkThatReturns(t *testing.T) {
	for name, is := range map[string]struct {
		err     error
		message string
		level   string
	}{
		"nil":   {nil, "keep Lead running until ctx ends", "warn"},
		"error": {errors.New("no disk"), "the work failed", "warn"},
		"panic": {panicking{errors.New("index out of range")}, "the work panicked", "error"},
	} {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				w, other := newWork(), newWork()
				a := start(t, s, "a", []roles.Role{w.role("r"), other.role("other")})
				first := receive(t, "a leads", w.began)
				kept := receive(t, "a leads other", other.began)
				select {
				case w.quit <- is.err:
				case <-time.After(time.Minute):
					t.Fatal("the work does not listen")
				}
				second := receive(t, "a leads again, after a cool-down", w.began)
				if second.Epoch() <= first.Epoch() || first.Valid() {
					t.Errorf("epoch %d after %d, which is valid: %v", second.Epoch(), first.Epoch(), first.Valid())
				}
				if cool := second.Since().Sub(first.Since()); cool < time.Second {
					t.Errorf("it was claimed again after %v, before the cool-down was over", cool)
				}
				if !kept.Valid() {
					t.Error("another role has suffered")
				}
				line := a.logged(is.message)
				if got := line.Level.String(); got != is.level || line.ContextMap()["role"] != "r" ||
					line.ContextMap()["epoch"] != first.Epoch() {
					t.Errorf("logged at %s: %v", got, line.ContextMap())
				}
				if is.err != nil && !strings.Contains(line.ContextMap()["error"].(string), is.err.Error()) {
					t.Errorf("logged error %v", line.ContextMap()["error"])
				}
			})
		})
	}
}

func TestFatal(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		broken := errors.New("the database is gone")
		w, other, next := newWork(), newWork(), newWork()
		a := start(t, s, "a", []roles.Role{w.role("r"), other.role("other")})
		receive(t, "a leads", w.began)
		receive(t, "a leads other", other.began)
		b := start(t, s, "b", one(next.role("other")))
		b.follows("other", "a")

		w.quit <- roles.Fatal(broken)
		err := a.result()
		if !errors.Is(err, broken) || err.Error() != "roles: lead r: the database is gone" {
			t.Errorf("Run returned %v", err)
		}
		if cause := receive(t, "the other work has ended", other.ended); !errors.Is(cause, election.ErrClosed) {
			t.Errorf("the other work ended with cause %v", cause)
		}
		receive(t, "b leads other", next.began)
		if roles.Fatal(nil) != nil {
			t.Error("Fatal(nil) is not nil")
		}
	})
}

// A return after the term has ended is not a failure, whatever error it returns.
func TestFatalAfterTheTerm(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		began := make(chan struct{}, 8) // more than there are terms
		a := start(t, s, "a", one(roles.Role{Name: "r", Lead: func(ctx context.Context, _ *election.Term) error {
			began <- struct{}{}
			<-ctx.Done()
			return roles.Fatal(ctx.Err())
		}}))
		receive(t, "a leads", began)
		if err := a.StepDown(bound(t), "r"); err != nil {
			t.Error(err)
		}
		receive(t, "a leads again", began)
		if err := a.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestCallbacks(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		promoted := make(chan fencing.Token, 8) // more than there are terms
		leaders := make(chan string, 64)
		var active, demotions atomic.Int32
		a := start(t, s, "a", one(roles.Role{
			Name: "r",
			OnPromote: func(ctx context.Context, token fencing.Token) {
				if active.Add(1) != 1 {
					t.Error("two terms at once")
				}
				promoted <- token
				<-ctx.Done()
			},
			OnDemote:       func() { active.Add(-1); demotions.Add(1) },
			OnLeaderChange: func(leader string) { leaders <- leader },
		}))
		first := receive(t, "promoted", promoted)
		if e, _ := a.Election("r"); e.Token().Compare(first) != 0 || !e.IsLeader() {
			t.Errorf("token %v, promoted with %v", e.Token(), first)
		}
		if got := receive(t, "told which instance leads", leaders); got != "a" {
			t.Errorf("told that %q leads", got)
		}
		if err := a.StepDown(bound(t), "r"); err != nil {
			t.Error(err)
		}
		if got := demotions.Load(); got != 1 {
			t.Errorf("%d demotions when StepDown has returned", got)
		}
		second := receive(t, "promoted again", promoted)
		if second.Compare(first) <= 0 {
			t.Errorf("token %v after %v", second, first)
		}
		if err := a.end(); err != nil {
			t.Error(err)
		}
		if demotions.Load() != 2 || active.Load() != 0 {
			t.Errorf("%d demotions, %d active", demotions.Load(), active.Load())
		}
	})
}

// Work that does not return is reported, makes the process not ready, and keeps the role; the other
// roles continue.
func TestStuckLead(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w, fine, next := newWork(), newWork(), newWork()
		w.hold = make(chan struct{})
		a := start(t, s, "a", []roles.Role{w.role("r"), fine.role("fine")})
		receive(t, "a leads", w.began)
		kept := receive(t, "a leads fine", fine.began)
		b := start(t, s, "b", one(next.role("r")))
		b.follows("r", "a")

		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := a.StepDown(ctx, "r"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("StepDown: %v", err)
		}
		st := a.Status()
		if st.Ready || !strings.Contains(st.Reason, "stuck") || !strings.Contains(st.Reason, "r") || !a.status("r").Stuck {
			t.Errorf("ready %v, %q, %+v", st.Ready, st.Reason, a.status("r"))
		}
		if line := a.logged("stuck"); line.Level != zap.WarnLevel || line.ContextMap()["role"] != "r" {
			t.Errorf("logged %v", line)
		}
		none(t, "b leads while a's work runs", next.began)
		if !kept.Valid() {
			t.Error("the other role has suffered")
		}
		close(w.hold)
		receive(t, "b leads", next.began)
		natstest.Settle(t)
		if st := a.Status(); !st.Ready {
			t.Errorf("not ready: %s", st.Reason)
		}
	})
}

func TestVacateUndrained(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		w, next := newWork(), newWork()
		w.hold = make(chan struct{})
		role := w.role("r")
		role.VacateUndrained = true
		a := start(t, s, "a", one(role))
		receive(t, "a leads", w.began)
		b := start(t, s, "b", one(next.role("r")))
		b.follows("r", "a")
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := a.StepDown(ctx, "r"); !errors.Is(err, context.DeadlineExceeded) { // it waits for the drain
			t.Errorf("StepDown: %v", err)
		}
		if len(next.began) == 0 {
			t.Error("b does not lead beside a's work")
		}
		close(w.hold)
	})
}

func TestHealthCheckFailure(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var sick atomic.Bool
		w, next := newWork(), newWork()
		role := w.role("r")
		role.Health = election.HealthCheckFunc(func(context.Context) bool { return !sick.Load() })
		a := start(t, s, "a", one(role))
		receive(t, "a leads", w.began)
		b := start(t, s, "b", one(next.role("r")))
		b.follows("r", "a")

		sick.Store(true)
		if cause := receive(t, "a's work ends", w.ended); !errors.Is(cause, election.ErrUnhealthy) {
			t.Errorf("a's work ended with cause %v", cause)
		}
		receive(t, "b leads", next.began)
		if reason := a.status("r").Reason; reason != "unhealthy" {
			t.Errorf("reason %q", reason)
		}
		if err := b.Pause("r"); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		none(t, "a leads while it is unhealthy", w.began)
		sick.Store(false)
		receive(t, "a leads again", w.began)
	})
}

// TestAWorkerOnlyManager: the manager takes part in the bucket but in no role, at the beginning and
// later.
func TestAWorkerOnlyManager(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		workerOnly := func(c *roles.Config) { c.WorkerOnly = true }
		n := start(t, s, "w", nil, workerOnly)
		natstest.Eventually(t, "it is ready", time.Minute, func() (bool, string) {
			st := n.Status()
			return st.Ready, fmt.Sprint(st)
		})
		for _, m := range n.Session().Members() {
			if m.Instance != "w" || !m.WorkerOnly {
				t.Errorf("it sees %s, worker-only %v", m.Instance, m.WorkerOnly)
			}
		}
		role := roles.Role{Name: "r", Lead: noWork}
		if err := n.Add(role); !errors.Is(err, election.ErrWorkerOnly) {
			t.Errorf("Add: %v", err)
		}
		cfg := config(s, "v")
		workerOnly(&cfg)
		if _, err := roles.New(cfg, role); !errors.Is(err, election.ErrWorkerOnly) {
			t.Errorf("New: %v", err)
		}
	})
}

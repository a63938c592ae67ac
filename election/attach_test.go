package election_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// lease is the whole of a Host, as package assign sees it.
type lease interface {
	Conn() *nats.Conn
	Bucket() string
	Instance() string
	Session() uint64
	Config() election.SessionConfig
	Signer() *fencing.Signer
	Members() []election.MemberInfo
	Role(name string) (election.RoleInfo, bool)
	Changed() <-chan struct{}
	Trusted() bool
	Awake(ctx context.Context) error
	Busy(busy bool)
	Describe(ctx context.Context, namespace string, w *election.Workplace) error
	Widen(ctx context.Context, role string, epoch uint64) (release func(), err error)
	Dead(instance string, workerOnly bool, session uint64) bool
	Closed(instance string, workerOnly bool, session uint64) bool
	Await(instance string, workerOnly bool, session uint64)
	End(reason string)
	Emit(event.Event)
	Meta() event.Meta
}

// attached is what runs under the leases of a session.
type attached struct {
	hosts  chan lease           // of each run; room for more than any test has
	ctxs   chan context.Context // of the same
	causes chan error           // why each run ended
}

func attach(t *testing.T, session *election.Session) *attached {
	t.Helper()
	a := &attached{make(chan lease, 16), make(chan context.Context, 16), make(chan error, 16)}
	err := session.Attach("test", func(ctx context.Context, h election.Host) error {
		a.hosts <- bridge.LeaseOf(h).(lease)
		a.ctxs <- ctx
		<-ctx.Done()
		a.causes <- context.Cause(ctx)
		return ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAttachmentLivesAndDiesWithTheLease(t *testing.T) {
	for _, when := range []string{"before Open", "after Open"} {
		t.Run(when, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				link := s.Link()
				nc := natstest.Connect(t, s, link.Options()...)
				session := unopened(t, instance("a"))
				var a *attached
				if when == "before Open" {
					a = attach(t, session)
				}
				if err := session.Open(t.Context(), nc); err != nil {
					t.Fatal(err)
				}
				if when == "after Open" {
					a = attach(t, session)
				}
				first := receive(t, "first run", a.hosts)
				if first.Session() != bridge.Number(session) || first.Conn() != nc || first.Bucket() != bucket ||
					first.Instance() != "a" ||
					first.Config().TTL != time.Second || first.Signer() == nil || first.Meta().Instance != "a" {
					t.Errorf("host of session %d: %+v", bridge.Number(session), first)
				}
				time.Sleep(time.Minute)
				none(t, "a second run under one lease", keep(a.hosts))
				if !first.Trusted() || bridge.TrustedFor(session) <= 0 {
					t.Error("a lease that is kept alive, if idle, is not believed in")
				}
				first.Busy(true)
				if err := first.Awake(within(t, time.Minute)); err != nil || !first.Trusted() {
					t.Errorf("awake: %v, believed in: %v", err, first.Trusted())
				}

				link.Hold(natsrun.Both)
				if cause := receive(t, "end of the lease", a.causes); !errors.Is(cause, election.ErrSessionLost) {
					t.Errorf("cause %v, want %v", cause, election.ErrSessionLost)
				}
				if first.Trusted() {
					t.Error("the lost lease is believed in")
				}
				link.Heal()
				second := receive(t, "second run", a.hosts)
				if second.Session() <= first.Session() || !second.Trusted() || first.Trusted() {
					t.Errorf("sessions %d and %d, believed %v and %v", first.Session(), second.Session(), first.Trusted(),
						second.Trusted())
				}
				if err := session.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				select { // joined before the end
				case cause := <-a.causes:
					if !errors.Is(cause, election.ErrClosed) {
						t.Errorf("cause %v, want %v", cause, election.ErrClosed)
					}
				default:
					t.Error("the session was closed before its attachment had returned")
				}
				if err := session.Attach("late", nil); !errors.Is(err, election.ErrClosed) {
					t.Errorf("attach after the end: %v, want %v", err, election.ErrClosed)
				}
			})
		})
	}
}

// TestAttachmentReturns: one that returns nil has done its part under this lease, one that fails is
// called again.
func TestAttachmentReturns(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		done, failing := make(chan struct{}, 64), make(chan struct{}, 64)
		fails := 0
		err := errors.Join(
			session.Attach("done", func(context.Context, election.Host) error {
				done <- struct{}{}
				return nil
			}),
			session.Attach("failing", func(ctx context.Context, _ election.Host) error {
				failing <- struct{}{}
				switch fails++; fails {
				case 1:
					return errors.New("not yet")
				case 2:
					panic("not yet either")
				}
				<-ctx.Done()
				return nil
			}))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if len(done) != 1 || len(failing) != 3 {
			t.Errorf("runs: %d of the one that was done, want 1; %d of the one that failed, want 3", len(done), len(failing))
		}
		faults := ofType[event.Fault](sink)
		if len(faults) != 2 || faults[0].Doing != "run failing" || faults[0].Err.Error() != "failing: not yet" {
			t.Errorf("reported: %+v", faults)
		}
	})
}

// TestAttachedOnce: the first attachment takes a name for the session's life, and is not disturbed
// by a second one.
func TestAttachedOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		a := attach(t, session)
		first := receive(t, "run", a.hosts)
		again := func() error {
			return bridge.AttachOnce(session, "test", func(context.Context, election.Host) error {
				t.Error("the second one runs")
				return nil
			})
		}
		if err := again(); !errors.Is(err, election.ErrAttached) {
			t.Errorf("the same name: %v, want %v", err, election.ErrAttached)
		}
		first.End("the test wants it")
		receive(t, "run under the next lease", a.hosts)
		if err := again(); !errors.Is(err, election.ErrAttached) {
			t.Errorf("the same name under another lease: %v, want %v", err, election.ErrAttached)
		}
	})
}

func TestHostDescribes(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("w")
		cfg.WorkerOnly = true
		a := attach(t, open(t, s, cfg))
		o := observe(t, s, election.WithWorkers())
		h := receive(t, "run", a.hosts)
		place := &election.Workplace{Slots: 4, Kinds: []string{"sum"}, Labels: map[string]string{"zone": "north"}}
		for i := range 50 { // the acknowledgement comes before the watch shows it, or after
			place.Slots = i
			if err := h.Describe(within(t, time.Minute), "jobs", place); err != nil {
				t.Fatalf("describe, time %d: %v", i, err)
			}
		}
		natstest.Eventually(t, "the observer sees it", time.Minute, func() (bool, string) {
			all := o.Members()
			return len(all) == 1 && sprint(all[0].Assign) == sprint(map[string]election.Workplace{"jobs": *place}), sprint(all)
		})
		if err := h.Describe(within(t, time.Minute), "jobs", nil); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "it is withdrawn", time.Minute, func() (bool, string) {
			all := o.Members()
			return len(all) == 1 && len(all[0].Assign) == 0, sprint(all)
		})
	})
}

// TestOfferedAgain: an offer that was withdrawn is recreated only when the watch over roles has
// shown a record that is later, since an earlier leader may have seen the former offer. The first
// offer waits for nothing.
func TestOfferedAgain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("w")
		cfg.WorkerOnly = true
		h := receive(t, "run", attach(t, open(t, s, cfg)).hosts)
		place := &election.Workplace{Slots: 4, Kinds: []string{"sum"}}
		for _, first := range []*election.Workplace{place, nil} {
			if err := h.Describe(within(t, time.Minute), "jobs", first); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Describe(within(t, time.Minute), "jobs", place); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nothing was shown of any role or candidate: %v", err)
		}
		if err := h.Describe(within(t, time.Minute), "others", place); err != nil {
			t.Errorf("the first offer in another namespace: %v", err)
		}
		open(t, s, instance("a"))
		if err := h.Describe(within(t, time.Minute), "jobs", place); err != nil {
			t.Errorf("with a candidate that beats: %v", err)
		}
	})
}

// TestHostSeesChanges: the leader of a role and the members, with a token for each change; workers
// only when it widens.
func TestHostSeesChanges(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		a := attach(t, session)
		h := receive(t, "run", a.hosts)
		until := func(what string, ok func() bool) {
			t.Helper()
			for !ok() {
				receive(t, what, h.Changed())
			}
		}
		_, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		until("a leads", func() bool {
			r, _ := h.Role("scheduler")
			return r.Leader == "a" && r.Epoch == term.Epoch()
		})
		candidate := open(t, s, instance("b"))
		until("b has joined", func() bool { return len(h.Members()) == 2 })

		for i := range 3 {
			cfg := instance(fmt.Sprint("w", i))
			cfg.WorkerOnly = true
			open(t, s, cfg)
		}
		if n := len(h.Members()); n != 2 {
			t.Errorf("%d members without the workers, want 2", n)
		}
		release, err := h.Widen(within(t, time.Minute), "scheduler", term.Epoch())
		if err != nil {
			t.Fatal(err)
		}
		all := h.Members()
		if len(all) != 5 {
			t.Errorf("members when Widen has returned: %+v", all)
		}
		until("w2 is described", func() bool { return h.Members()[4].Described })
		number := all[4].Session
		if h.Dead("w2", true, number) || !h.Dead("w2", true, number-1) || h.Dead("w2", false, number) {
			t.Error("a live session is dead, or a former one is not")
		}
		if h.Dead("b", false, bridge.Number(candidate)) || h.Closed("b", false, bridge.Number(candidate)) {
			t.Error("b is dead")
		}
		was := bridge.Number(candidate)
		if err := candidate.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		until("b has left", func() bool { return h.Dead("b", false, was) })
		if !h.Closed("b", false, was) || h.Closed("b", false, was-1) {
			t.Error("b's session was closed, and no other one")
		}
		release()
		until("the workers are forgotten", func() bool { return len(h.Members()) == 1 })
	})
}

// TestHostEndsTheLease: an attachment can give the lease up; a new lease begins, and the roles are
// led again.
func TestHostEndsTheLease(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		a := attach(t, session)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		h := receive(t, "run", a.hosts)
		h.End("the test wants it")
		if err := receive(t, "end of the term", p.ended); !errors.Is(err, election.ErrSessionLost) {
			t.Errorf("cause %v", err)
		}
		if next := receive(t, "next run", a.hosts); next.Session() <= h.Session() {
			t.Errorf("session %d after %d", next.Session(), h.Session())
		}
		if next := receive(t, "next term", p.began); next.Epoch() <= term.Epoch() {
			t.Errorf("epoch %d after %d", next.Epoch(), term.Epoch())
		}
		h.End("an old host has no say")
		time.Sleep(time.Minute)
		none(t, "end of the next term", p.ended)
	})
}

package election_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// endsWith checks why a term ended: in the work's context, in the term, and in what is reported.
func endsWith(t *testing.T, p *part, term *election.Term, sink *recorder, want error, reason string) {
	t.Helper()
	if got := receive(t, "end of the work", p.ended); !errors.Is(got, want) {
		t.Errorf("cause %v, want %v", got, want)
	}
	if term.Valid() || p.IsLeader() && p.Token().Epoch == term.Epoch() {
		t.Error("the work's context ended before belief in the term did")
	}
	natstest.Eventually(t, "the end is reported", time.Minute, func() (bool, string) {
		return len(ofType[event.RoleDemoted](sink)) == 1, sprint(sink.all())
	})
	if d := ofType[event.RoleDemoted](sink)[0]; d.Reason != reason || !errors.Is(d.Cause, want) ||
		d.Epoch != term.Epoch() {
		t.Errorf("reported as %+v, want reason %q", d, reason)
	}
}

// watched is a session whose events are kept.
func watched(t *testing.T, s *natsrun.Server, cfg election.SessionConfig,
	link *natsrun.Link,
) (*election.Session, *recorder) {
	t.Helper()
	sink := &recorder{}
	cfg.Sinks = []event.Sink{sink}
	if link == nil {
		link = s.Link()
	}
	return open(t, s, cfg, link.Options()...), sink
}

func TestCauseSessionLost(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		session, sink := watched(t, s, instance("a"), link)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		time.Sleep(10 * time.Second)
		cut := time.Now()
		link.Cut()
		endsWith(t, p, term, sink, election.ErrSessionLost, "session lost")
		if took := time.Since(cut); took > 800*time.Millisecond {
			t.Errorf("the term ended %v after the cut, want TTL − margin = 800ms at most", took)
		}
		link.Heal()
		if again := receive(t, "the next term", p.began); again.Epoch() <= term.Epoch() {
			t.Errorf("epoch %d after %d", again.Epoch(), term.Epoch())
		}
	})
}

func TestCauseSteppedDown(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		if err := p.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		endsWith(t, p, term, sink, election.ErrSteppedDown, "stepped down")
	})
}

func TestCauseOutranked(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler", Priority: 1})
		polite := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "scheduler", Priority: 9})
		time.Sleep(time.Minute)
		none(t, "end of the term for a candidate that does not take over", p.ended)
		none(t, "promotion of a candidate that does not take over", polite.began)
		better := campaign(t, open(t, s, instance("c")), election.RoleConfig{
			Role: "scheduler", Priority: 2, AllowPriorityTakeover: true,
		})
		endsWith(t, p, term, sink, election.ErrOutranked, "outranked")
		receive(t, "the better one's promotion", better.began)
	})
}

func TestCauseTransferred(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		other := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "scheduler"})
		natstest.Eventually(t, "b waits in line", time.Minute, func() (bool, string) {
			return p.Status().Successor == "b", sprint(p.Status())
		})
		if err := p.Transfer(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		endsWith(t, p, term, sink, election.ErrTransferred, "transferred")
		receive(t, "b's promotion", other.began)
	})
}

// TestCauseEvicted: the record is changed by somebody else, in each way there is.
func TestCauseEvicted(t *testing.T) {
	ways := map[string]func(t *testing.T, kv jetstream.KeyValue, o *election.Observer, epoch uint64) error{
		"by force": func(t *testing.T, _ jetstream.KeyValue, o *election.Observer, epoch uint64) error {
			return o.Evict(t.Context(), "scheduler", epoch)
		},
		"deleted": func(t *testing.T, kv jetstream.KeyValue, _ *election.Observer, _ uint64) error {
			return kv.Delete(t.Context(), "c.role.scheduler")
		},
		"garbage": func(t *testing.T, kv jetstream.KeyValue, _ *election.Observer, _ uint64) error {
			_, err := kv.Put(t.Context(), "c.role.scheduler", []byte("what is this"))
			return err
		},
	}
	for name, change := range ways {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				session, sink := watched(t, s, instance("a"), nil)
				p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
				o := observe(t, s)
				if err := change(t, keyValue(t, s), o, term.Epoch()); err != nil {
					t.Fatal(err)
				}
				endsWith(t, p, term, sink, election.ErrEvicted, "evicted")
				changed := time.Now()
				receive(t, "the next term", p.began)
				if waited := time.Since(changed); waited < 990*time.Millisecond {
					t.Errorf("led again after %v, want the whole lease: a leader that did not see it believes that long", waited)
				}
			})
		})
	}
}

func TestCauseUnhealthy(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		var sick atomic.Bool
		p, term := lead(t, session, election.RoleConfig{
			Role:   "scheduler",
			Health: election.HealthCheckFunc(func(context.Context) bool { return !sick.Load() }),
		})
		time.Sleep(10 * time.Second)
		sick.Store(true)
		began := time.Now()
		endsWith(t, p, term, sink, election.ErrUnhealthy, "unhealthy")
		if took := time.Since(began); took > 4*200*time.Millisecond {
			t.Errorf("stepped down after %v, want three heartbeats", took)
		}
		time.Sleep(time.Minute)
		none(t, "promotion of a sick candidate", p.began)
		if st := p.Status(); st.Reason != "unhealthy" {
			t.Errorf("status %+v", st)
		}
		sick.Store(false)
		receive(t, "promotion after recovery", p.began)
	})
}

func TestCauseDisconnected(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		cfg := instance("a")
		cfg.TTL, cfg.DisconnectGracePeriod = 20*time.Second, 8*time.Second
		session, sink := watched(t, s, cfg, link)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		link.Refuse(true)
		link.Reset()
		down := time.Now()
		endsWith(t, p, term, sink, election.ErrDisconnected, "disconnected")
		if took := time.Since(down); took < 8*time.Second || took > 8100*time.Millisecond {
			t.Errorf("ended after %v, want the grace period of 8s", took)
		}
		link.Heal()
		receive(t, "the next term", p.began)
	})
}

// TestGraceEndsAtTheDeadline: a grace period that is longer than the lease lets no term outlive it.
func TestGraceEndsAtTheDeadline(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		cfg := instance("a")
		cfg.DisconnectGracePeriod = time.Hour
		session, sink := watched(t, s, cfg, link)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		link.Refuse(true)
		link.Reset()
		endsWith(t, p, term, sink, election.ErrSessionLost, "session lost")
	})
}

func TestCauseClosed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		endsWith(t, p, term, sink, election.ErrClosed, "closed")
	})
}

// TestCauseWorkEnded: work that returns by itself ends the context of what it has started.
func TestCauseWorkEnded(t *testing.T) {
	tests := map[string]struct {
		work   func() error
		reason string
		check  func(event.WorkReturned) bool
	}{
		"nil": {
			func() error { return nil }, "work returned",
			func(w event.WorkReturned) bool { return w.Err == nil && !w.Panic },
		},
		"error": {
			func() error { return errors.New("broken") }, "work failed",
			func(w event.WorkReturned) bool { return w.Err.Error() == "broken" },
		},
		"panic": {
			func() error { panic("bug") }, "work failed",
			func(w event.WorkReturned) bool { return w.Panic && w.Err != nil },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				session, sink := watched(t, s, instance("a"), nil)
				p := newPart()
				first := true
				var err error
				if p.Election, err = session.Campaign(election.RoleConfig{
					Role: "scheduler",
					Lead: func(ctx context.Context, term *election.Term) error {
						p.began <- term
						if !first {
							<-ctx.Done()
							return nil
						}
						first = false
						context.AfterFunc(ctx, func() { p.ended <- context.Cause(ctx) })
						return test.work()
					},
				}); err != nil {
					t.Fatal(err)
				}
				term := p.start(t)
				endsWith(t, p, term, sink, election.ErrWorkEnded, test.reason)
				returned := ofType[event.WorkReturned](sink)
				if len(returned) != 1 || !test.check(returned[0]) || returned[0].Epoch != term.Epoch() {
					t.Errorf("reported %+v", returned)
				}
				ended := time.Now()
				receive(t, "the next term", p.began)
				if cooled := time.Since(ended); cooled < 990*time.Millisecond {
					t.Errorf("claimed again after %v, want the cool-down", cooled)
				}
			})
		})
	}
}

func keyValue(t *testing.T, s *natsrun.Server) jetstream.KeyValue {
	t.Helper()
	js, err := jetstream.New(natstest.Connect(t, s))
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), bucket)
	if err != nil {
		t.Fatal(err)
	}
	return kv
}

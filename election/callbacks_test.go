package election_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// journal is a list of what happened, in order.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) add(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, ", ")
}

// recorder is a sink that keeps the events of some names.
type recorder struct {
	mu     sync.Mutex
	events []event.Event
}

func (r *recorder) Observe(e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) all() []event.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func ofType[E event.Event](r *recorder) (all []E) {
	for _, e := range r.all() {
		if e, ok := e.(E); ok {
			all = append(all, e)
		}
	}
	return all
}

// TestCallbacksMatch: over several terms each promotion is followed by one demotion, and the next
// promotion comes after both callbacks have returned, however long they take.
func TestCallbacksMatch(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.CoolDown = time.Second
		session := open(t, s, cfg)
		e, err := session.Campaign(election.RoleConfig{Role: "scheduler"})
		if err != nil {
			t.Fatal(err)
		}
		var j journal
		promoted := make(chan fencing.Token, 8)
		e.OnPromote(func(ctx context.Context, token fencing.Token) {
			j.add("promote")
			promoted <- token
			<-ctx.Done()
			time.Sleep(300 * time.Millisecond)
			j.add("promote returns")
		})
		e.OnDemote(func() {
			j.add("demote")
			time.Sleep(100 * time.Millisecond)
			j.add("demote returns")
		})
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		const terms = 3
		var last fencing.Token
		for range terms {
			token := receive(t, "promotion", promoted)
			if token.Compare(last) <= 0 || token.Role != "scheduler" || token.Holder != "a" {
				t.Errorf("token %v after %v", token, last)
			}
			last = token
			if err := e.StepDown(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := e.Stop(); err != nil {
			t.Fatal(err)
		}
		one := "promote, demote, demote returns, promote returns"
		if want := strings.Join([]string{one, one, one}, ", "); !strings.HasPrefix(j.String(), want) ||
			strings.Count(j.String(), "promote,")*4 != len(j.lines) {
			t.Errorf("got %s", &j)
		}
	})
}

// TestDrainedOnce: however many callbacks a term has, and whichever returns last, it is drained
// once, when all have returned.
func TestDrainedOnce(t *testing.T) {
	for _, slow := range []string{"Lead", "OnPromote", "OnDemote"} {
		t.Run(slow, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				var sink recorder
				cfg := instance("a")
				cfg.CoolDown = time.Second
				cfg.Sinks = []event.Sink{&sink}
				session := open(t, s, cfg)
				var j journal
				returns := func(name string) {
					if name == slow {
						time.Sleep(time.Second)
					}
					j.add("%s", name)
				}
				e, err := session.Campaign(election.RoleConfig{
					Role: "scheduler", ValidationInterval: time.Second,
					Lead: func(ctx context.Context, _ *election.Term) error {
						<-ctx.Done()
						returns("Lead")
						return nil
					},
				})
				if err != nil {
					t.Fatal(err)
				}
				promoted := make(chan struct{}, 8)
				e.OnPromote(func(ctx context.Context, _ fencing.Token) {
					promoted <- struct{}{}
					<-ctx.Done()
					returns("OnPromote")
				})
				e.OnDemote(func() { returns("OnDemote") })
				if err := e.Start(t.Context()); err != nil {
					t.Fatal(err)
				}
				const terms = 3
				for n := 1; n <= terms; n++ {
					receive(t, "promotion", promoted)
					time.Sleep(3 * time.Second)
					if err := e.StepDown(t.Context()); err != nil {
						t.Fatal(err)
					}
					natstest.Settle(t)
					drained := ofType[event.RoleDrained](&sink)
					if len(drained) != n || strings.Count(j.String(), slow) != n || len(j.lines) != 3*n ||
						drained[n-1].Took < time.Second {
						t.Fatalf("after term %d: %v; %s", n, drained, &j)
					}
				}
			})
		})
	}
}

// TestPromoteMayReturnEarly: a callback that starts something and returns does not give the role
// up.
func TestPromoteMayReturnEarly(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		e, err := open(t, s, instance("a")).Campaign(election.RoleConfig{Role: "scheduler"})
		if err != nil {
			t.Fatal(err)
		}
		began := make(chan context.Context, 8)
		e.OnPromote(func(ctx context.Context, _ fencing.Token) { began <- ctx })
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx := receive(t, "promotion", began)
		time.Sleep(5 * time.Minute)
		if !e.IsLeader() || ctx.Err() != nil {
			t.Errorf("five minutes later: leads %v, context %v", e.IsLeader(), ctx.Err())
		}
		if err := e.Stop(); err != nil || !errors.Is(context.Cause(ctx), election.ErrSteppedDown) {
			t.Errorf("stop %v, cause %v", err, context.Cause(ctx))
		}
		none(t, "another promotion", began)
	})
}

// TestPanicsAreCaught: a panic in a callback ends the term at most, and is reported with its stack.
func TestPanicsAreCaught(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var sink recorder
		cfg := instance("a")
		cfg.Sinks = []event.Sink{&sink}
		session := open(t, s, cfg)
		var j journal
		e, err := session.Campaign(election.RoleConfig{
			Role: "scheduler", OnLeaderChange: func(leader string) { panic("told of " + leader) },
		})
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		led := make(chan struct{}, 1)
		e.OnPromote(func(ctx context.Context, _ fencing.Token) {
			j.add("promote")
			if calls++; calls == 1 {
				panic("first term")
			}
			led <- struct{}{}
			<-ctx.Done()
		})
		e.OnDemote(func() {
			j.add("demote")
			panic("every demotion")
		})
		if err := e.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "the second term", led)
		if err := e.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := "promote, demote, promote, demote"; j.String() != want {
			t.Errorf("got %s, want %s", &j, want)
		}
		seen := map[string]int{}
		for _, p := range ofType[event.CallbackPanicked](&sink) {
			seen[p.Callback]++
			if p.Role != "scheduler" || !strings.Contains(string(p.Stack), "callbacks_test.go") {
				t.Errorf("%s of %s panicked with %v; its stack does not say where:\n%s", p.Callback, p.Role, p.Value, p.Stack)
			}
		}
		if seen["OnPromote"] != 1 || seen["OnDemote"] != 2 || seen["OnLeaderChange"] == 0 {
			t.Errorf("panics reported: %v", seen)
		}
	})
}

// TestLeaderChanges: every process is told, in order, which instance leads, and that none leads.
func TestLeaderChanges(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		changes := make(chan string, 16)
		a, b := open(t, s, instance("a")), open(t, s, instance("b"))
		pa, _ := lead(t, a, election.RoleConfig{Role: "scheduler"})
		pb := campaign(t, b,
			election.RoleConfig{Role: "scheduler", OnLeaderChange: func(leader string) { changes <- leader }})
		natstest.Eventually(t, "b knows the leader", time.Minute,
			func() (bool, string) { return pb.LeaderID() == "a", pb.LeaderID() })
		stop(t, pa)
		receive(t, "b's promotion", pb.began)
		natstest.Settle(t) // a late callback gets only the latest leader
		stop(t, pb)
		natstest.Eventually(t, "b knows that nobody leads", time.Minute,
			func() (bool, string) { return pb.LeaderID() == "", pb.LeaderID() })
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(changes)
		var told []string
		for leader := range changes {
			told = append(told, leader)
		}
		t.Logf("told: %q", told)
		if !slices.Contains(told, "b") {
			t.Errorf("told %q, want b among them", told)
		}
		for i := 1; i < len(told); i++ {
			if told[i] == told[i-1] {
				t.Errorf("told twice of %q: %q", told[i], told)
			}
		}
	})
}

package election_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// pair is two candidates for one role; the first leads, the second waits in line.
func pair(t *testing.T, s *natsrun.Server) (a, b *part) {
	t.Helper()
	a, _ = lead(t, open(t, s, instance("a")), election.RoleConfig{Role: "scheduler"})
	b = campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "scheduler"})
	natstest.Eventually(t, "b waits in line", time.Minute, func() (bool, string) {
		return a.Status().Successor == "b", sprint(a.Status())
	})
	return a, b
}

func TestStepDown(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b := pair(t, s)
		if err := b.StepDown(t.Context()); !errors.Is(err, election.ErrNotLeader) {
			t.Errorf("of a follower: %v, want %v", err, election.ErrNotLeader)
		}
		if err := a.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "b's promotion", b.began)
		stop(t, b)
		receive(t, "a's second term, after its cool-down", a.began)
	})
}

func TestTransfer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b := pair(t, s)
		c := campaign(t, open(t, s, instance("c")), election.RoleConfig{Role: "scheduler"})
		if err := b.Transfer(t.Context(), "c"); !errors.Is(err, election.ErrNotLeader) {
			t.Errorf("of a follower: %v, want %v", err, election.ErrNotLeader)
		}
		for _, nobody := range []string{"z", "a", ""} {
			if err := a.Transfer(t.Context(), nobody); !errors.Is(err, election.ErrNotCandidate) {
				t.Errorf("to %q: %v, want %v", nobody, err, election.ErrNotCandidate)
			}
		}
		natstest.Eventually(t, "c takes it", time.Minute, func() (bool, string) {
			err := a.Transfer(t.Context(), "c")
			return err == nil, sprint(err)
		})
		receive(t, "c's promotion, though b stands before it", c.began)
		none(t, "b's promotion", b.began)
	})
}

func TestObserverSteers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b := pair(t, s)
		o := observe(t, s)
		epoch := sees(t, o, "scheduler", "led by a", ledBy("a")).Epoch
		ctx := t.Context()
		if _, err := o.StepDown(ctx, "scheduler", epoch+1); !errors.Is(err, election.ErrWrongEpoch) {
			t.Errorf("at another epoch: %v, want %v", err, election.ErrWrongEpoch)
		}
		if _, err := o.StepDown(ctx, "other", 0); !errors.Is(err, election.ErrNotLeader) {
			t.Errorf("of a role that nobody leads: %v, want %v", err, election.ErrNotLeader)
		}
		if err := o.Transfer(ctx, "scheduler", "z", epoch); !errors.Is(err, election.ErrNotCandidate) {
			t.Errorf("to nobody: %v, want %v", err, election.ErrNotCandidate)
		}
		if successor, err := o.StepDown(ctx, "scheduler", epoch); err != nil || successor != "b" {
			t.Errorf("step-down: successor %q, %v; want b", successor, err)
		}
		receive(t, "b's promotion", b.began)
		sees(t, o, "scheduler", "led by b", ledBy("b"))
		time.Sleep(2 * time.Second) // a's cool-down
		if err := o.Transfer(ctx, "scheduler", "a", 0); err != nil {
			t.Errorf("transfer: %v", err)
		}
		receive(t, "a's second promotion", a.began)
	})
}

func TestPauseAndResume(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, _ := lead(t, open(t, s, instance("a")), election.RoleConfig{Role: "scheduler"})
		if err := a.Pause(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "cause", a.ended); !errors.Is(err, election.ErrSteppedDown) {
			t.Errorf("cause %v", err)
		}
		time.Sleep(time.Minute)
		none(t, "promotion while paused", a.began)
		if st := a.Status(); st.Reason != "paused" || st.State != election.StateCandidate {
			t.Errorf("status %+v", st)
		}
		if err := a.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		receive(t, "promotion", a.began)

		o := observe(t, s)
		sees(t, o, "scheduler", "led", ledBy("a"))
		if err := o.Pause(t.Context(), "scheduler", "a"); err != nil {
			t.Fatal(err)
		}
		sees(t, o, "scheduler", "vacant", func(i election.RoleInfo) bool { return i.Vacant && len(i.Candidates) == 0 })
		time.Sleep(time.Minute)
		none(t, "promotion while paused", keep(a.began))
		if err := o.Resume(t.Context(), "scheduler", "a"); err != nil {
			t.Fatal(err)
		}
		receive(t, "promotion", a.began)
		if err := o.Pause(t.Context(), "other", "a"); !errors.Is(err, election.ErrUnknownRole) {
			t.Errorf("pause of a role it does not take part in: %v", err)
		}
		if err := o.Pause(t.Context(), "scheduler", "z"); !errors.Is(err, nats.ErrNoResponders) {
			t.Errorf("pause of nobody: %v", err)
		}
	})
}

func keep[T any](c chan T) <-chan T { return c }

// TestRepeatedRequestIsCarriedOutOnce: a request whose answer was lost is sent again under its id;
// it gets the answer of the first one, though a new request of that kind would be declined.
func TestRepeatedRequestIsCarriedOutOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b := pair(t, s)
		nc := natstest.Connect(t, s)
		control := controlOf(t, nc, "a")
		ask := func(id string) string {
			t.Helper()
			m, err := nc.Request(control, []byte(`{"id":"`+id+`","op":"step-down","role":"scheduler"}`), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			return string(m.Data)
		}
		first := ask("one")
		if want := `{"id":"one","ok":true,"successor":"b"}`; first != want {
			t.Errorf("answer %s, want %s", first, want)
		}
		receive(t, "b's promotion", b.began)
		if again := ask("one"); again != first {
			t.Errorf("the second answer is %s, the first was %s", again, first)
		}
		if other, want := ask("two"), `{"id":"two","ok":false,"error":"not the leader of the role"}`; other != want {
			t.Errorf("answer to another request %s, want %s", other, want)
		}
		none(t, "a's second term", a.began)
	})
}

// TestRepeatedRequestWaitsWithTheFirst: while the work drains, a repeated request waits for the one
// outcome.
func TestRepeatedRequestWaitsWithTheFirst(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.CoolDown = time.Hour // one term is enough
		slowly(t, open(t, s, cfg), "scheduler", 10*time.Second)
		o := observe(t, s)
		began := time.Now()
		if _, err := o.StepDown(t.Context(), "scheduler", 0); err != nil {
			t.Errorf("step-down: %v", err)
		}
		if took := time.Since(began); took < 10*time.Second {
			t.Errorf("answered after %v, before the work had drained", took)
		}
	})
}

func TestHostileControlRequests(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		quiet := nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}) // it tells of requests that were dropped
		a, _ := lead(t, open(t, s, instance("a"), quiet), election.RoleConfig{Role: "scheduler"})
		nc := natstest.Connect(t, s)
		control := controlOf(t, nc, "a")
		huge, _ := json.Marshal(map[string]string{"id": "x", "op": "step-down", "role": string(make([]byte, 8<<10))})
		for _, data := range [][]byte{
			nil, []byte("{"), []byte(`{"op":"step-down","role":"scheduler"}`), []byte(`{"id":"1","op":"dance","role":"scheduler"}`), huge,
		} {
			m, err := nc.Request(control, data, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			var answer struct {
				OK    bool
				Error string
			}
			if err := json.Unmarshal(m.Data, &answer); err != nil || answer.OK || answer.Error == "" {
				t.Errorf("%.40q answered %s", data, m.Data)
			}
		}
		for range 2000 { // with nobody to answer
			if err := nc.Publish(control, []byte("{}")); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if !a.IsLeader() {
			t.Error("they have cost it the role")
		}
	})
}

// TestTransferToSomebodyWhoDoesNotAnswer: a target that is not reached keeps nobody from leading.
func TestTransferToSomebodyWhoDoesNotAnswer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		a, term := lead(t, open(t, s, instance("a")), election.RoleConfig{Role: "scheduler"})
		cfg := instance("b")
		cfg.TTL = 20 * time.Second
		campaign(t, open(t, s, cfg, link.Options()...), election.RoleConfig{Role: "scheduler"})
		natstest.Eventually(t, "b waits in line", time.Minute, func() (bool, string) {
			return a.Status().Successor == "b", sprint(a.Status())
		})
		link.Cut()
		if err := a.Transfer(t.Context(), "b"); !errors.Is(err, election.ErrDeclined) {
			t.Errorf("transfer: %v, want %v", err, election.ErrDeclined)
		}
		if !term.Valid() {
			t.Error("the leader has stopped for a target that does not answer")
		}
	})
}

func TestEvictWaitsForTheWholeLease(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		cfg := instance("a")
		cfg.TTL = 10 * time.Second
		a, term := lead(t, open(t, s, cfg, link.Options()...), election.RoleConfig{Role: "scheduler"})
		b := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "scheduler"})
		o := observe(t, s)
		for _, epoch := range []uint64{0, term.Epoch() + 1} {
			if err := o.Evict(t.Context(), "scheduler", epoch); !errors.Is(err, election.ErrWrongEpoch) {
				t.Errorf("at epoch %d: %v, want %v", epoch, err, election.ErrWrongEpoch)
			}
		}
		if err := o.Evict(t.Context(), "other", 1); !errors.Is(err, election.ErrNotLeader) {
			t.Errorf("of a role that nobody leads: %v", err)
		}
		var until atomic.Int64 // the last moment at which a believed
		watching, stop := context.WithCancel(t.Context())
		var sampler sync.WaitGroup
		defer sampler.Wait()
		defer stop()
		sampler.Go(func() {
			for watching.Err() == nil {
				if a.IsLeader() {
					until.Store(time.Now().UnixNano())
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
		link.DelayDir(natsrun.ToClient, 3*time.Second) // a learns of it late
		evicted := time.Now()
		if err := o.Evict(t.Context(), "scheduler", term.Epoch()); err != nil {
			t.Fatal(err)
		}
		if err := o.Evict(t.Context(), "scheduler", term.Epoch()); err == nil {
			t.Error("evicted twice")
		}
		next := receive(t, "b's promotion", b.began)
		if waited := time.Since(evicted); waited < 10*time.Second || waited > 11*time.Second {
			t.Errorf("b leads %v after the eviction, want a's whole lease of 10s", waited)
		}
		if next.Epoch() <= term.Epoch() {
			t.Errorf("epoch %d after %d", next.Epoch(), term.Epoch())
		}
		if believed := time.Unix(0, until.Load()).Sub(evicted); believed < 2*time.Second || believed > 4*time.Second {
			t.Errorf("a believed for %v, want until it has seen it", believed)
		}
		if err := receive(t, "cause", a.ended); !errors.Is(err, election.ErrEvicted) {
			t.Errorf("cause %v", err)
		}
	})
}

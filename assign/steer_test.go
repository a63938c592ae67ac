package assign_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// overview asks until a scheduler says what is waited for.
func overview(t *testing.T, c assign.Submitter, what string, ok func(assign.Overview) bool) (o assign.Overview) {
	t.Helper()
	natstest.Eventually(t, what, 20*time.Second, func() (bool, string) {
		var err error
		if o, err = assign.GetOverview(t.Context(), c); err != nil {
			return false, err.Error()
		}
		return ok(o), ""
	})
	return o
}

func isPaused(kind string, paused bool) func(assign.Overview) bool {
	return func(o assign.Overview) bool {
		found := false
		for _, k := range o.Kinds {
			found = found || k.Kind == kind && k.Paused
		}
		return found == paused
	}
}

func isDrained(instance string, drained bool) func(assign.Overview) bool {
	return func(o assign.Overview) bool {
		for _, w := range o.Workers {
			if w.Instance == instance {
				return w.Drained == drained && !w.Draining
			}
		}
		return false
	}
}

func TestPauseWorksWhileNobodyLeads(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		if _, err := assign.GetOverview(t.Context(), c); !errors.Is(err, assign.ErrNoScheduler) {
			t.Errorf("nobody leads: %v", err)
		}
		for range 2 { // a second time returns nil
			if err := assign.PauseKind(t.Context(), c, "slow", "for a test"); err != nil {
				t.Fatal(err)
			}
		}
		submitSlow(t, c, 2)
		b := newBench()
		n := newNode(t, s, "a", b.register(t, "a"))
		o := overview(t, c, "the kind is paused", isPaused("slow", true))
		if o.Scheduler != "a" || o.Epoch == 0 || len(o.Workers) != 1 || o.Workers[0].Instance != "a" ||
			o.Workers[0].Slots != 8 {
			t.Errorf("%+v", o)
		}
		time.Sleep(10 * time.Second) // virtual
		if b.startedTotal() != 0 {
			t.Errorf("%d started while the kind was paused\n%s", b.startedTotal(), n.dump())
		}
		for range 2 {
			if err := assign.ResumeKind(t.Context(), c, "slow"); err != nil {
				t.Fatal(err)
			}
		}
		b.allStarted(t, 2)
		overview(t, c, "the kind continues", isPaused("slow", false))
		close(b.gate)
		if err := assign.PauseKind(t.Context(), c, "no good", ""); !errors.Is(err, assign.ErrInvalidName) {
			t.Errorf("a bad name: %v", err)
		}
	})
}

func TestDrainedWorkerIsGivenNothing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		b := newBench()
		newNode(t, s, "a", b.register(t, "a"))
		newNode(t, s, "w.1", b.register(t, "w.1"), workerOnly)
		c := New(t, s)
		if err := assign.DrainWorker(t.Context(), c, "w.1", ""); err != nil {
			t.Fatal(err)
		}
		overview(t, c, "it is drained", isDrained("w.1", true))
		submitSlow(t, c, 4)
		b.allStarted(t, 4)
		if n := b.by("w.1"); n != 0 {
			t.Errorf("%d started on the drained one", n)
		}
		if err := assign.UndrainWorker(t.Context(), c, "w.1"); err != nil {
			t.Fatal(err)
		}
		overview(t, c, "it is drained no more", isDrained("w.1", false))
		close(b.gate)

		if err := assign.DrainWorker(t.Context(), c, "to-come", ""); err != nil {
			t.Fatal(err)
		}
		o := overview(t, c, "one that takes no part is drained", isDrained("to-come", true))
		if last := o.Workers[len(o.Workers)-1]; len(o.Workers) != 3 || last.Instance != "to-come" || last.Session != 0 ||
			last.Kinds == nil {
			t.Errorf("%+v", o.Workers)
		}
	})
}

// TestSteeringWhoseAnswerIsLost: the later request has the last word, even if copies of earlier
// ones come after it.
func TestSteeringWhoseAnswerIsLost(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		lossy, link := lossyClient(t, s)
		other := New(t, s)
		if err := assign.PauseKind(t.Context(), lossy, "x", ""); err != nil { // opens the stream
			t.Fatal(err)
		}
		loseWrite(t, link, func() error { return assign.PauseKind(t.Context(), lossy, "slow", "lost") })
		nc := natstest.Connect(t, s)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), "TASKS_"+testNS)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := stream.GetLastMsgForSubject(t.Context(), stored+"p.slow"); err != nil || len(m.Data) == 0 {
			t.Fatalf("paused: %+v, %v", m, err)
		}
		// A pause that is held up on its way, and decided otherwise meanwhile.
		link.Hold(natsrun.ToServer)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := assign.PauseKind(ctx, lossy, "slow", "late"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("held up: %v", err)
		}
		if err := assign.ResumeKind(t.Context(), other, "slow"); err != nil {
			t.Fatal(err)
		}
		link.Release()
		time.Sleep(10 * time.Second) // virtual
		if m, err := stream.GetLastMsgForSubject(t.Context(), stored+"p.slow"); err != nil || len(m.Data) != 0 {
			t.Errorf("a pause that came late undid the resume: %+v, %v", m, err)
		}
	})
}

func TestCancelWhileNobodyLeads(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c, link := lossyClient(t, s)
		p, err := assign.Submit(t.Context(), c, slow, "x")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := p.Cancel(ctx); !errors.Is(err, assign.ErrCancelPending) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody leads: %v", err)
		}
		q, err := assign.Submit(t.Context(), c, slow, "y")
		if err != nil {
			t.Fatal(err)
		}
		within, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		loseWrite(t, link, func() error {
			if err := q.Cancel(within); !errors.Is(err, assign.ErrCancelPending) {
				t.Errorf("the answer is lost: %v", err)
			}
			return nil
		})
		b := newBench()
		n := newNode(t, s, "a", b.register(t, "a"))
		for _, p := range []*assign.Pending[string]{p, q} {
			if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskCancelled) {
				t.Errorf("%v\n%s", err, n.dump())
			}
			if err := p.Cancel(t.Context()); err != nil {
				t.Errorf("again: %v", err)
			}
		}
		if b.startedTotal() != 0 {
			t.Errorf("%d started", b.startedTotal())
		}
		if err := assign.Find(c, slow, "never").Cancel(t.Context()); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("one that never was: %v", err)
		}
	})
}

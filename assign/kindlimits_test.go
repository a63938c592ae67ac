package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestDeclaredLimits: a limit that a program has declared counts for tasks of programs that know
// nothing of it, delayed ones too, and under the next leader. An override counts until it ends.
func TestDeclaredLimits(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		one := assign.NewKind[time.Duration, string]("one", assign.Concurrency(1), assign.LimitsVersion(2))
		a := newNode(t, s, "a", r.handle(t, "a", one), slots(32))
		b := newNode(t, s, "b", r.handle(t, "b", one), slots(32))
		first := leader(t, a, b)
		c := New(t, s)
		if err := assign.Declare(t.Context(), c, one); err != nil {
			t.Fatal(err)
		}
		var all []*assign.Pending[string]
		others := []assign.Kind[time.Duration, string]{
			assign.NewKind[time.Duration, string]("one"), one,
			assign.NewKind[time.Duration, string]("one", assign.Concurrency(28), assign.Rate(1e6)),
		}
		submit := func(n int, opts ...assign.SubmitOption) {
			for range n {
				all = append(all, submitNamed(t, c, others[len(all)%3], fmt.Sprint("one-", len(all)), time.Second, opts...))
			}
		}
		submit(10)
		submit(5, assign.WithDelay(3*time.Second))
		r.awaitStarted(t, 3)
		first.link.Cut()
		r.awaitStarted(t, 6)
		first.link.Heal()
		waitAll(t, all, a, b)
		if n := r.peak("one"); n != 1 {
			t.Errorf("%d ran at once", n)
		}

		four := 4
		o := assign.LimitsOverride{Concurrency: &four, Until: time.Now().Add(5 * time.Second), Reason: "in a hurry"}
		if err := assign.OverrideLimits(t.Context(), c, "one", o); err != nil {
			t.Fatal(err)
		}
		l, err := assign.GetLimits(t.Context(), c, "one")
		if err != nil || *l.Concurrency != 4 || l.Declared.Concurrency != 1 || l.Declared.Version != 2 ||
			*l.Override.Concurrency != 4 {
			t.Errorf("%+v, %v", l, err)
		}
		all = nil
		for i := range 40 {
			all = append(all, submitNamed(t, c, others[0], fmt.Sprint("more-", i), time.Second))
		}
		natstest.Eventually(t, "four at once", 20*time.Second, func() (bool, string) {
			return r.peak("one") == 4, fmt.Sprint(r.peak("one"))
		})
		time.Sleep(6 * time.Second)
		before := len(r.started())
		time.Sleep(5 * time.Second)
		if n := len(r.started()) - before; n > 6 {
			t.Errorf("%d started within 5 s after the override's end, of a second each and one at a time", n)
		}
		if l, err := assign.GetLimits(t.Context(), c, "one"); err != nil || *l.Concurrency != 1 || l.Override != nil {
			t.Errorf("%+v, %v", l, err)
		}
		if err := assign.RestoreLimits(t.Context(), c, "one"); err != nil {
			t.Error(err)
		}
		waitAll(t, all, a, b)
	})
}

// TestDeclarations: a lower version never replaces a higher one, and of two with one version the
// first stays.
func TestDeclarations(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		of := func(concurrency, version int, more ...assign.KindOption) error {
			return assign.Declare(t.Context(), c, assign.NewKind[int, int]("k",
				append(more, assign.Concurrency(concurrency), assign.LimitsVersion(version))...))
		}
		for i, step := range []struct{ concurrency, version, want, other int }{
			{2, 0, 2, 0}, {2, 0, 2, 0}, {3, 0, 2, 1}, {5, 3, 5, 0}, {2, 0, 5, 0}, {4, 2, 5, 0}, {4, 3, 5, 1}, {1, 4, 1, 0},
		} {
			err := of(step.concurrency, step.version)
			if errors.Is(err, assign.ErrLimitsDiffer) != (step.other == 1) || err != nil && step.other == 0 {
				t.Errorf("step %d: %v", i, err)
			}
			if err != nil && (!strings.Contains(err.Error(), fmt.Sprintf(`"concurrency":%d`, step.want)) ||
				!strings.Contains(err.Error(), fmt.Sprintf(`"concurrency":%d`, step.concurrency))) {
				t.Errorf("step %d: it does not name both: %v", i, err)
			}
			if l, err := assign.GetLimits(t.Context(), c, "k"); err != nil || *l.Concurrency != step.want {
				t.Errorf("step %d: %+v, %v", i, l, err)
			}
		}
		if err := of(1, 9, assign.MaxAttempts(2), assign.Retention(2*time.Hour)); err != nil {
			t.Fatal(err)
		}
		many := -1
		if err := assign.OverrideLimits(t.Context(), c, "k", assign.LimitsOverride{Concurrency: &many}); !errors.Is(err,
			assign.ErrInvalidOption) {
			t.Error(err)
		}
		k, err := assign.DeclaredKind[int, int](t.Context(), c, "k", assign.Priority(3))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := assign.Submit(t.Context(), c, k, 1, assign.WithID("declared")); err != nil {
			t.Fatal(err)
		}
		if _, err := assign.GetLimits(t.Context(), c, "never"); err != nil {
			t.Error(err)
		}
	})
}

// TestADeclarationThatChangesNothing: it leaves what a later version has written as it is.
func TestADeclarationThatChangesNothing(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c := New(t, s)
		k := assign.NewKind[int, int]("k", assign.Concurrency(1))
		later := `{"v":1,"declared":{"version":2,"policy":{"v":1,"kind":"k","attempts":5,"backoff_ms":1,` +
			`"max_backoff_ms":1,"retention_s":1,"later":1}},"override":{"later":2}}`
		if err := assign.Declare(t.Context(), c, k); err != nil { // the stream is there
			t.Fatal(err)
		}
		js, err := jetstream.New(natstest.Connect(t, s))
		if err != nil {
			t.Fatal(err)
		}
		const at = "$KV.TASKS_" + testNS + ".l.k"
		if _, err := js.Publish(t.Context(), at, []byte(later)); err != nil {
			t.Fatal(err)
		}
		if err := assign.Declare(t.Context(), c, k); err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), "TASKS_"+testNS)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := stream.GetLastMsgForSubject(t.Context(), at); err != nil || string(m.Data) != later {
			t.Errorf("%+v, %v", m, err)
		}
	})
}

// TestDeclaredLimitsHoldForRequeues: of tasks whose submissions name no limits, or others.
func TestDeclaredLimitsHoldForRequeues(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		r := newRoll()
		var fixed atomic.Bool
		one := assign.NewKind[time.Duration, string]("one", assign.MaxAttempts(1), assign.Concurrency(1))
		a := newNode(t, s, "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, one, func(ctx context.Context, task *assign.Task[time.Duration]) (string, error) {
				if !fixed.Load() {
					return "", errors.New("broken")
				}
				return "a", r.run(ctx, "a", task)
			}); err != nil {
				t.Error(err)
			}
		}, slots(32))
		leader(t, a)
		c := New(t, s)
		for i := range 20 {
			opts := []assign.KindOption{assign.MaxAttempts(1), assign.Concurrency([]int{0, 28}[i%2])}
			p := submitNamed(t, c, assign.NewKind[time.Duration, string]("one", opts...), fmt.Sprint("one-", i), time.Second)
			if _, err := p.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
				t.Fatal(err)
			}
		}
		if err := assign.Declare(t.Context(), c, one); err != nil {
			t.Fatal(err)
		}
		fixed.Store(true)
		if all, err := assign.RequeueAll(t.Context(), c, assign.BulkOptions{}); err != nil || all.Done != 20 {
			t.Fatalf("%+v, %v", all, err)
		}
		var all []*assign.Pending[string]
		for i := range 20 {
			all = append(all, assign.Find(c, one, fmt.Sprint("one-", i)))
		}
		waitAll(t, all, a)
		if n := r.peak("one"); n != 1 {
			t.Errorf("%d ran at once", n)
		}
	})
}

package assign_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

var (
	part = assign.NewKind[int, int]("part", assign.MaxAttempts(1), assign.DeadRetention(26*time.Hour))
	done = assign.NewKind[assign.GroupRef, assign.GroupStatus]("done")
)

// groupWork handles members, of which every fifth fails, and completions, which return what they
// read about their group.
func groupWork(t *testing.T, completions *atomic.Int32) func(*assign.Assigner) {
	return func(a *assign.Assigner) {
		err := errors.Join(
			assign.Handle(a, part, func(ctx context.Context, task *assign.Task[int]) (int, error) {
				select {
				case <-time.After(time.Duration(task.Input%7) * time.Second):
				case <-ctx.Done():
					return 0, ctx.Err()
				}
				if task.Input%5 == 4 {
					return 0, errors.New("it fails")
				}
				return 2 * task.Input, nil
			}),
			assign.Handle(a, done, func(ctx context.Context, task *assign.Task[assign.GroupRef]) (assign.GroupStatus, error) {
				completions.Add(1)
				return task.Input.Status(ctx, a)
			}))
		if err != nil {
			t.Error(err)
		}
	}
}

func inputs(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// checkGroup checks what the completion of a group of n has been told.
func checkGroup(t *testing.T, s assign.GroupStatus, n int) {
	t.Helper()
	dead := n / 5
	if s.Size != n || s.Succeeded != n-dead || s.Dead != dead || len(s.Failed) != min(dead, 1000) ||
		s.Lost+s.Open+s.Missing != 0 {
		t.Errorf("%d members: %+v", n, s)
	}
	for i, id := range s.Failed {
		if want := (assign.GroupRef{Group: s.Name}).MemberID(5*i + 4); id != want {
			t.Errorf("failed %d: %s, want %s", i, id, want)
		}
	}
}

// TestGroup: one completion after all members, which knows how they have ended; a repeated call
// finds the group, and its name is taken.
func TestGroup(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var completions atomic.Int32
		leader(t, newNode(t, s, "a", groupWork(t, &completions)))
		c, ctx := New(t, s), t.Context()
		g, err := assign.SubmitGroup(ctx, c, "g", part, inputs(20), done, assign.WithDelay(20*time.Second))
		if err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "the members are counted", time.Minute, func() (bool, string) {
			st, err := g.Members(ctx)
			return err == nil && st.Open == 20 && st.Completion.Reason == "" && !st.Completion.State.Terminal(),
				fmt.Sprintf("%+v %v", st, err)
		})
		out, err := g.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		checkGroup(t, out, 20)
		again, err := assign.SubmitGroup(ctx, c, "g", part, inputs(20), done)
		if err != nil || !again.Existing() || again.ID() != g.ID() {
			t.Errorf("%+v, %v", again, err)
		}
		if _, err := assign.SubmitGroup(ctx, c, "g", part, inputs(3), done); !errors.Is(err, assign.ErrInvalidOption) {
			t.Errorf("another size: %v", err)
		}
		found, err := assign.FindGroup(c, "g", done)
		if err != nil {
			t.Fatal(err)
		}
		if out, err = found.Wait(ctx); err != nil {
			t.Error(err)
		}
		checkGroup(t, out, 20)
		st, err := found.Members(ctx)
		if err != nil || st.Completion.State != assign.StateSucceeded {
			t.Errorf("%+v, %v", st, err)
		}
		checkGroup(t, st, 20)
		if n, err := assign.Find(c, part, (assign.GroupRef{Group: "g"}).MemberID(3)).Wait(ctx); n != 6 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n := completions.Load(); n != 1 {
			t.Errorf("the completion has run %d times", n)
		}
	})
}

// TestGroupOutlivesSchedulersAndWorkers: they are lost while it runs, and the outcomes of the other
// members have left when the last one begins.
func TestGroupOutlivesSchedulersAndWorkers(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var completions atomic.Int32
		a := newNode(t, s, "a", groupWork(t, &completions))
		leader(t, a)
		c, ctx := New(t, s), t.Context()
		last := assign.WithEach(func(i int) []assign.SubmitOption {
			if i == 0 {
				return []assign.SubmitOption{assign.WithDelay(25 * time.Hour)}
			}
			return nil
		})
		g, err := assign.SubmitGroup(ctx, c, "long", part, inputs(60), done, last)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"b", "c", "d"} { // each time a scheduler is lost that is a worker too
			time.Sleep(3 * time.Second)
			next := newNode(t, s, name, groupWork(t, &completions))
			a.link.Cut()
			leader(t, next)
			a.close(t)
			a = next
		}
		natstest.Eventually(t, "all others are counted", 2*time.Minute, func() (bool, string) {
			st, err := g.Members(ctx)
			return err == nil && st.Open == 1, fmt.Sprintf("%+v %v", st, err)
		})
		a.close(t)
		time.Sleep(25 * time.Hour) // nobody leads, and the outcomes leave
		member := (assign.GroupRef{Group: "long"}).MemberID(1)
		if _, err := assign.Get(ctx, c, member); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("a member is still there: %v", err)
		}
		leader(t, newNode(t, s, "e", groupWork(t, &completions)))
		out, err := g.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		checkGroup(t, out, 60)
		if n := completions.Load(); n != 1 {
			t.Errorf("the completion has run %d times", n)
		}
	})
}

// TestGroupThatIsNeverClosed: its submitter has crashed, and it continues where it was interrupted,
// or is given up after a day.
func TestGroupThatIsNeverClosed(t *testing.T) {
	thorough.Only(t, "it lasts for a day of virtual time")
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var completions atomic.Int32
		a := newNode(t, s, "a", groupWork(t, &completions), slowly)
		leader(t, a)
		c, ctx := New(t, s), t.Context()
		crashed := errors.New("the submitter crashes")
		nc, err := s.Connect()
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		crashing, err := assign.NewClient(nc, assign.ClientConfig{
			Namespace: testNS, SubmitMiddleware: []assign.SubmitMiddleware{func(next assign.SubmitFunc) assign.SubmitFunc {
				return func(ctx context.Context, s *assign.Submitting) error {
					if strings.HasSuffix(s.ID, "/7") {
						return crashed
					}
					return next(ctx, s)
				}
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer crashing.Close()
		for _, name := range []string{"continued", "given-up"} {
			if _, err := assign.SubmitGroup(ctx, crashing, name, part, inputs(10), done); !errors.Is(err, crashed) {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Hour)
		g, err := assign.SubmitGroup(ctx, c, "continued", part, inputs(10), done)
		if err != nil {
			t.Fatal(err)
		}
		out, err := g.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		checkGroup(t, out, 10)
		a.close(t)
		time.Sleep(23 * time.Hour)
		leader(t, newNode(t, s, "b", groupWork(t, &completions)))
		found, err := assign.FindGroup(c, "given-up", done)
		if err != nil {
			t.Fatal(err)
		}
		_, err = found.Wait(ctx)
		var why *assign.TaskError
		if !errors.As(err, &why) || why.Status != assign.StateCancelled || why.Cause != "unclosed" {
			t.Errorf("%v", err)
		}
		if st, err := found.Members(ctx); err != nil || st.Missing != 1 || st.Succeeded != 7 || st.Dead != 2 {
			t.Errorf("%+v, %v", st, err)
		}
		if n := completions.Load(); n != 1 {
			t.Errorf("completions have run %d times", n)
		}
	})
}

func TestWrongGroupsAreRefused(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		c, ctx := New(t, s), t.Context()
		for _, name := range []string{"", "a/b", "a b"} {
			if _, err := assign.SubmitGroup(ctx, c, name, part, inputs(1), done); !errors.Is(err, assign.ErrInvalidOption) {
				t.Errorf("%q: %v", name, err)
			}
		}
		for name, n := range map[string]int{"none": 0, "many": 100_001} {
			_, err := assign.SubmitGroup(ctx, c, name, part, inputs(n), done)
			want := fmt.Sprintf("a group of %d tasks: use 1 to 100000", n)
			if !errors.Is(err, assign.ErrInvalidOption) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
		each := assign.WithEach(func(int) []assign.SubmitOption { return []assign.SubmitOption{assign.WithID("x")} })
		for name, o := range map[string]assign.SubmitOption{
			"id": assign.WithID("x"), "each": each, "key": assign.WithUnique("k"),
		} {
			if _, err := assign.SubmitGroup(ctx, c, name, part, inputs(2), done, o); !errors.Is(err, assign.ErrInvalidOption) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := assign.Submit(ctx, c, part, 1, assign.WithID("group/g")); !errors.Is(err, assign.ErrInvalidID) {
			t.Error(err)
		}
		if _, err := (assign.GroupRef{Group: "nobody"}).Status(ctx, c); !errors.Is(err, assign.ErrTaskNotFound) {
			t.Error(err)
		}
	})
}

var (
	first  = assign.NewKind[int, string]("first")
	second = assign.NewKind[assign.Ref[string], string]("second")
	third  = assign.NewKind[[]assign.Ref[string], string]("third")
)

// TestChainAndFanIn: outputs are passed on by reference, and are kept until then.
func TestChainAndFanIn(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		leader(t, newNode(t, s, "a", func(a *assign.Assigner) {
			err := errors.Join(
				assign.Handle(a, first, func(_ context.Context, task *assign.Task[int]) (string, error) {
					return fmt.Sprint("n", task.Input), nil
				}),
				assign.Handle(a, second, func(ctx context.Context, task *assign.Task[assign.Ref[string]]) (string, error) {
					out, err := task.Input.Get(ctx, a)
					return out + "!", err
				}),
				assign.Handle(a, third, func(ctx context.Context, task *assign.Task[[]assign.Ref[string]]) (string, error) {
					var all []string
					for _, r := range task.Input {
						out, err := r.Get(ctx, a)
						if err != nil {
							return "", err
						}
						all = append(all, out)
					}
					return strings.Join(all, " "), nil
				}))
			if err != nil {
				t.Error(err)
			}
		}))
		c, ctx := New(t, s), t.Context()
		var chained []*assign.Pending[string]
		for i := range 3 {
			p, err := assign.Submit(ctx, c, first, i, assign.With(assign.Retention(time.Minute)))
			if err != nil {
				t.Fatal(err)
			}
			next, err := assign.Chain(ctx, c, second, p, assign.WithDelay(5*time.Minute))
			if err != nil {
				t.Fatal(err)
			}
			chained = append(chained, next)
		}
		last, err := assign.FanIn(ctx, c, third, chained)
		if err != nil {
			t.Fatal(err)
		}
		out, err := last.Wait(ctx)
		if err != nil || !slices.Equal(strings.Fields(out), []string{"n0!", "n1!", "n2!"}) {
			t.Errorf("%q, %v", out, err)
		}
	})
}

package assign_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

// leavers are callers who submit until a link is cut. Every other one leaves three seconds later.
type leavers struct {
	mu   sync.Mutex
	left []string // the tasks that the errors of those who have left name
	ids  []string // of the tasks that are stored
	errs []error  // of those who wait
	all  sync.WaitGroup
}

var namedInError = regexp.MustCompile(`submit (\S+\.\S+\.\S+):`)

func (x *leavers) submit(ctx context.Context, c *assign.Client, patient bool) {
	within := 3 * time.Second
	if patient {
		within = 5 * time.Minute
	}
	for i := range 40 {
		ctx, end := context.WithTimeout(ctx, within)
		p, err := assign.Submit(ctx, c, double, i)
		end()
		x.mu.Lock()
		if err == nil {
			x.ids = append(x.ids, p.ID())
		} else if patient {
			x.errs = append(x.errs, err)
		} else if m := namedInError.FindStringSubmatch(err.Error()); m != nil {
			x.left = append(x.left, m[1])
		}
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// howOften counts how often tasks run.
type howOften struct {
	mu sync.Mutex
	of map[string]int
}

func newHowOften(t *testing.T, s *natsrun.Server) *howOften {
	r := &howOften{of: map[string]int{}}
	leader(t, newNode(t, s, "a", func(a *assign.Assigner) {
		if err := assign.Handle(a, double, func(_ context.Context, task *assign.Task[int]) (int, error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.of[task.ID()]++
			return 2 * task.Input, nil
		}); err != nil {
			t.Error(err)
		}
	}, slots(64)))
	return r
}

// check wants each of these tasks to have run once.
func (r *howOften) check(t *testing.T, ids []string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	once := 0
	for _, id := range ids {
		if r.of[id] == 1 {
			once++
		}
	}
	if once != len(ids) {
		t.Errorf("%d of %d tasks ran once", once, len(ids))
	}
}

// TestSubmittedAgainBesideALateBundle: submissions are in a bundle that has not reached the server.
// The callers of every other one leave, and submit their tasks again by their ids over another
// connection. Then the bundle comes, for those who wait. Each task is stored once and runs once.
func TestSubmittedAgainBesideALateBundle(t *testing.T) {
	costly(t)
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		x, slow := recordSubmissions(t, s, natstest.Connect(t, s)), syncing(s)
		c, other, ran := New(t, slow), New(t, s), newHowOften(t, s)
		if _, errs := manySubmit(t.Context(), c, 4000, unnamed); len(errs) > 0 {
			t.Fatal(errs[0])
		}
		before := x.inBundles()
		var callers leavers
		for w := range 200 {
			callers.all.Go(func() { callers.submit(t.Context(), c, w%2 == 0) })
		}
		time.Sleep(10 * time.Millisecond)
		slow.link.Cut()
		time.Sleep(8 * time.Second)
		callers.mu.Lock()
		left := append([]string{}, callers.left...)
		callers.mu.Unlock()
		for _, id := range left {
			if _, err := assign.Submit(t.Context(), other, double, 1, assign.WithID(id)); err != nil {
				t.Errorf("%s is submitted again: %v", id, err)
			}
		}
		slow.link.Heal()
		callers.all.Wait()
		time.Sleep(time.Minute)
		if len(callers.errs) > 0 {
			t.Error(callers.errs[0])
		}
		if len(left) < 50 || before == 0 {
			t.Errorf("%d callers have left, %d bundles before: this proves nothing", len(left), before)
		}
		ids := append(left, callers.ids...)
		ran.check(t, ids)
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, id := range ids {
			if n := x.of[id]; n != 2 { // its submission, and its outcome
				t.Fatalf("%s is stored %d times", id, n)
			}
		}
	})
}

// TestSubmittedAgainWithoutThePermission: a client that may write no bundles cannot keep them out
// either. It submits under ids of a client's making all the same, and is denied once.
func TestSubmittedAgainWithoutThePermission(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		x := recordSubmissions(t, s, natstest.Connect(t, s, nats.UserInfo("root", "p")))
		var denied atomic.Int32
		nc := natstest.Connect(t, s, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrPermissionViolation) {
				denied.Add(1)
			}
		}))
		c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		var ids []string
		for i := range 100 { // two of each block
			ids = append(ids, bundles.ID(fmt.Sprint(strings.Repeat("x", 22), ".", i/2), i%2))
		}
		for _, there := range []bool{false, true} {
			var all sync.WaitGroup
			for _, id := range ids {
				all.Go(func() {
					p, err := assign.Submit(t.Context(), c, double, 1, assign.WithID(id))
					if err != nil || p.Existing() != there {
						t.Errorf("%+v, %v; there: %t", p, err, there)
					}
				})
			}
			all.Wait()
		}
		x.check(t, ids)
		if n := denied.Load(); n != 1 {
			t.Errorf("%d writes were denied", n)
		}
	}, denying([]string{bundled + ">"}, nil))
}

// TestSubmittedAgainInAFullStream: a task that is there takes no room, and no claim. Where bundles
// are never stored, a task takes no room but its own.
func TestSubmittedAgainInAFullStream(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		before := New(t, s)
		p, err := assign.Submit(t.Context(), before, double, 1)
		if err != nil {
			t.Fatal(err)
		}
		bound := func(records int64) {
			limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxMsgs = records })
		}
		bound(1)
		since := New(t, s)
		for _, c := range []*assign.Client{before, since, New(t, s)} {
			if again, err := assign.Submit(t.Context(), c, double, 1, assign.WithID(p.ID())); err != nil || !again.Existing() {
				t.Errorf("%+v, %v", again, err)
			}
		}
		other := strings.Repeat("x", 22) + ".1.0"
		_, err = assign.Submit(t.Context(), since, double, 1, assign.WithID(other))
		if !errors.Is(err, assign.ErrStreamFull) {
			t.Error(err)
		}
		bound(2)
		if _, err := assign.Submit(t.Context(), since, double, 1, assign.WithID(other)); err != nil {
			t.Error(err)
		}
		if all := records(t, natstest.Connect(t, s), "b.>"); len(all) > 0 {
			t.Errorf("claims: %v", all)
		}
	})
}

// TestLargerSubmissionsGoInBundles: what waits at a time has not room in one bundle, and a block
// has one. So ids are made in blocks of what has.
func TestLargerSubmissionsGoInBundles(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const tasks = 1500
		x := recordSubmissions(t, s, natstest.Connect(t, s))
		long := assign.WithHeader("long", strings.Repeat("x", 1500))
		ids, errs := manySubmit(t.Context(), New(t, syncing(s)), tasks, func(int) []assign.SubmitOption {
			return []assign.SubmitOption{long}
		})
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		if _, n := x.check(t, ids); n < tasks/2 {
			t.Errorf("%d in bundles", n)
		}
	})
}

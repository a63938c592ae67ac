package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	taskrecord "github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
)

const bundled = stored + taskrecord.BundleKey

// storedTasks is all that was stored in the stream since it is looked at, also what was replaced.
type storedTasks struct {
	mu      sync.Mutex
	of      map[string]int // how often each task was stored
	alone   int
	bundles int
	fault   error
}

// recordSubmissions begins to look at what is stored. There is a stream then, and one task.
func recordSubmissions(t *testing.T, s *natsrun.Server, nc *nats.Conn) *storedTasks {
	t.Helper()
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := assign.Submit(t.Context(), c, double, 1, assign.WithID("first")); err != nil {
		t.Fatal(err)
	}
	natstest.Republish(t, nc, taskStream, stored+">", "kept.>")
	x := &storedTasks{of: map[string]int{}}
	sub, err := nc.Subscribe("kept.>", x.stored)
	if err == nil {
		err = sub.SetPendingLimits(-1, -1)
	}
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func (x *storedTasks) stored(m *nats.Msg) {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := strings.TrimPrefix(m.Subject, "kept.")
	if id, ok := strings.CutPrefix(key, taskrecord.QueueKey); ok {
		x.of[id]++
		x.alone++
		return
	}
	name, ok := strings.CutPrefix(key, taskrecord.BundleKey)
	if !ok {
		return
	}
	block, _, _ := bundles.Split(name)
	members, err := taskrecord.DecodeBundle(name, m.Header, m.Data)
	if err != nil {
		x.fault = fmt.Errorf("%s: %w", name, err)
	}
	x.bundles++
	for i := range members {
		x.of[bundles.ID(block, int(members[i].Index))]++
	}
}

// check waits until each of these tasks is stored, and wants each to be stored once.
func (x *storedTasks) check(t *testing.T, ids []string) (alone, inBundles int) {
	t.Helper()
	natstest.Eventually(t, "all are stored", time.Minute, func() (bool, string) {
		x.mu.Lock()
		defer x.mu.Unlock()
		return len(x.of) >= len(ids), fmt.Sprintf("%d of %d", len(x.of), len(ids))
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fault != nil {
		t.Error(x.fault)
	}
	for _, id := range ids {
		if n := x.of[id]; n != 1 {
			t.Errorf("%s is stored %d times", id, n)
		}
	}
	if len(x.of) != len(ids) {
		t.Errorf("%d tasks are stored, and %d were submitted", len(x.of), len(ids))
	}
	t.Logf("%d alone or in batches, %d in %d bundles", x.alone, len(ids)-x.alone, x.bundles)
	return x.alone, len(ids) - x.alone
}

// manySubmit has so many tasks submitted by 200 at once. It returns the ids of those that are
// stored, and the errors of the others.
func manySubmit(ctx context.Context, c *assign.Client, n int, opts func(i int) []assign.SubmitOption) (ids []string,
	errs []error,
) {
	next := make(chan int)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range 200 {
		all.Go(func() {
			for i := range next {
				p, err := assign.Submit(ctx, c, double, i, opts(i)...)
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				} else {
					ids = append(ids, p.ID())
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	return ids, errs
}

// TestSubmissionsGoInBundles: on a store that syncs each write, and on no other one.
func TestSubmissionsGoInBundles(t *testing.T) {
	const tasks = 1500
	for _, synced := range []bool{true, false} {
		t.Run(fmt.Sprint(synced), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				x, slow := recordSubmissions(t, s, natstest.Connect(t, s)), syncing(s)
				if !synced {
					slow.disk.Sync = 0
				}
				ids, errs := manySubmit(t.Context(), New(t, slow), tasks, unnamed)
				if len(errs) > 0 {
					t.Fatal(errs[0])
				}
				if _, n := x.check(t, ids); synced && n < tasks/2 || !synced && n > 0 {
					t.Errorf("%d in bundles", n)
				}
			})
		})
	}
}

// TestSubmissionsThatGoInNoBundle do so beside those that do: those with a name, a key, tasks that
// they wait for, or a large input.
func TestSubmissionsThatGoInNoBundle(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const tasks = 3000
		x := recordSubmissions(t, s, natstest.Connect(t, s))
		ids, errs := manySubmit(t.Context(), New(t, syncing(s)), tasks, func(i int) []assign.SubmitOption {
			switch i % 10 {
			case 0:
				return []assign.SubmitOption{assign.WithID(fmt.Sprint("named-", i))}
			case 1:
				return []assign.SubmitOption{assign.After("first")}
			}
			return nil
		})
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		if alone, n := x.check(t, ids); n < tasks/4 || alone < tasks/5 {
			t.Errorf("%d alone, and %d in bundles", alone, n)
		}
	})
}

// TestBundlesWithoutAnAnswer: bundles are stored, and their answers are lost. Each is sent again as
// it is, and each task is stored once.
func TestBundlesWithoutAnAnswer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		x, slow := recordSubmissions(t, s, natstest.Connect(t, s)), syncing(s)
		const lost = 3
		slow.disk.MuteBelow(bundled, lost)
		ids, errs := manySubmit(t.Context(), New(t, slow), 6000, unnamed)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		x.check(t, ids)
		if n := slow.disk.Muted(); n != 0 {
			t.Errorf("%d answers of %d were lost", lost-n, lost)
		}
	})
}

// TestLostBundles: the connection is silent in one direction for a while, again and again. Each
// task is stored once.
func TestLostBundles(t *testing.T) {
	for way, cut := range map[string]natsrun.Direction{
		"to the server": natsrun.ToServer, "to the client": natsrun.ToClient,
	} {
		t.Run(way, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				x, slow := recordSubmissions(t, s, natstest.Connect(t, s)), syncing(s)
				c := New(t, slow)
				var ids []string
				var errs []error
				var all sync.WaitGroup
				var over atomic.Bool
				all.Go(func() {
					ids, errs = manySubmit(t.Context(), c, 4_000, unnamed)
					over.Store(true)
				})
				for range 3 {
					before := x.inBundles()
					natstest.Eventually(t, "bundles are under way", time.Minute, func() (bool, string) {
						return x.inBundles() > before+2 || over.Load(), fmt.Sprint(x.inBundles())
					})
					slow.link.CutOneWay(cut)
					time.Sleep(500 * time.Millisecond)
					slow.link.Heal()
				}
				all.Wait()
				if len(errs) > 0 {
					t.Fatal(errs[0])
				}
				if _, n := x.check(t, ids); n == 0 {
					t.Error("no bundles: this proves nothing")
				}
			})
		})
	}
}

func (x *storedTasks) inBundles() int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.bundles
}

// TestABundleIsNotSentForEver: after half an hour without an answer its callers hear that their
// tasks may be stored. Later the server would not know any more that the bundle was there.
func TestABundleIsNotSentForEver(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		x, slow := recordSubmissions(t, s, natstest.Connect(t, s)), syncing(s)
		slow.disk.MuteBelow(bundled, 1<<30)
		began := time.Now()
		_, errs := manySubmit(t.Context(), New(t, slow), 500, unnamed)
		if took := time.Since(began); took < taskrecord.BundleRetention/2 {
			t.Errorf("it is sent for %v", took)
		}
		if n := x.inBundles(); n == 0 || len(errs) == 0 {
			t.Errorf("%d in bundles, and %d callers are told: this proves nothing", n, len(errs))
		}
		for _, err := range errs {
			if !strings.Contains(err.Error(), "the task may be stored") {
				t.Fatal(err)
			}
		}
	})
}

// TestBundlesThatAreDenied: a client that may store no bundles continues without them.
func TestBundlesThatAreDenied(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		x := recordSubmissions(t, s, natstest.Connect(t, s, nats.UserInfo("root", "p")))
		ids, errs := manySubmit(t.Context(), New(t, syncing(s)), 3000, unnamed)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		if _, n := x.check(t, ids); n > 0 {
			t.Errorf("%d in bundles", n)
		}
	}, denying([]string{bundled + ">"}, nil))
}

// TestNoBundlesInABoundedStream: tasks that are stored alone leave room for their outcomes.
func TestNoBundlesInABoundedStream(t *testing.T) {
	for _, bound := range []func(*jetstream.StreamConfig){
		func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = 128 << 20 },
		func(cfg *jetstream.StreamConfig) { cfg.MaxMsgs = 1 << 20 },
	} {
		natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
			x, slow := recordSubmissions(t, s, natstest.Connect(t, s)), syncing(s)
			limit(t, s, bound)
			ids, errs := manySubmit(t.Context(), New(t, slow), 3000, unnamed)
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			if _, n := x.check(t, ids); n > 0 {
				t.Errorf("%d in bundles", n)
			}
		})
	}
}

// TestBundlesWithoutRoom: the stream becomes full, and each caller of a bundle is told so.
func TestBundlesWithoutRoom(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		x, slow := recordSubmissions(t, s, natstest.Connect(t, s)), syncing(s)
		c := New(t, slow)
		first, errs := manySubmit(t.Context(), c, 1, unnamed)
		if len(errs) > 0 {
			t.Fatal(errs[0])
		}
		limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = 128 << 10 })
		ids, errs := manySubmit(t.Context(), c, 6000, unnamed)
		for _, err := range errs {
			if !errors.Is(err, assign.ErrStreamFull) {
				t.Fatal(err)
			}
		}
		if _, n := x.check(t, append(first, ids...)); n == 0 || len(errs) == 0 {
			t.Errorf("%d in bundles, and %d errors", n, len(errs))
		}
	})
}

// TestBundlesWithoutRoomAfterSilence: the first attempt has no answer, and the next one finds the
// stream full. Its callers are not told that nothing is stored.
func TestBundlesWithoutRoomAfterSilence(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		recordSubmissions(t, s, natstest.Connect(t, s))
		slow := syncing(s)
		c := New(t, slow)
		if _, errs := manySubmit(t.Context(), c, 4000, unnamed); len(errs) > 0 {
			t.Fatal(errs[0])
		}
		var errs []error
		var all sync.WaitGroup
		all.Go(func() { _, errs = manySubmit(t.Context(), c, 1000, unnamed) })
		time.Sleep(time.Millisecond)
		slow.link.Cut()
		time.Sleep(7 * time.Second)
		limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = 1 })
		slow.link.Heal()
		all.Wait()
		perhaps := 0
		for _, err := range errs {
			switch {
			case strings.Contains(err.Error(), "may be stored") && !errors.Is(err, assign.ErrStreamFull):
				perhaps++
			case !errors.Is(err, assign.ErrStreamFull):
				t.Fatal(err)
			}
		}
		if perhaps == 0 {
			t.Errorf("none of %d hears that its task may be stored: %v", len(errs), errs[:1])
		}
	})
}

// TestASubmissionWithoutRoomAfterSilence: one that goes alone, likewise.
func TestASubmissionWithoutRoomAfterSilence(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		slow := syncing(s)
		slow.disk.Sync = 0
		c := New(t, slow)
		submit := func() error {
			_, err := assign.Submit(t.Context(), c, double, 1)
			return err
		}
		if err := submit(); err != nil {
			t.Fatal(err)
		}
		slow.link.Cut()
		time.AfterFunc(7*time.Second, func() {
			limit(t, s, func(cfg *jetstream.StreamConfig) { cfg.MaxBytes = 1 })
			slow.link.Heal()
		})
		if err := submit(); err == nil || !strings.Contains(err.Error(), "may be stored") ||
			errors.Is(err, assign.ErrStreamFull) {
			t.Errorf("after silence: %v", err)
		}
		if err := submit(); !errors.Is(err, assign.ErrStreamFull) {
			t.Errorf("at once: %v", err)
		}
	})
}

// TestCallersOfABundleLeave: nothing is known of a bundle. Each of its callers waits as long as it
// wants to, and until the client is closed.
func TestCallersOfABundleLeave(t *testing.T) {
	for _, closes := range []bool{false, true} {
		t.Run(fmt.Sprint(closes), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				recordSubmissions(t, s, natstest.Connect(t, s))
				slow := syncing(s)
				slow.disk.MuteBelow(bundled, 1<<20)
				c := New(t, slow)
				ctx, leave := context.WithTimeout(t.Context(), 20*time.Second)
				defer leave()
				want := context.DeadlineExceeded
				if closes {
					want = assign.ErrClosed
					time.AfterFunc(15*time.Second, c.Close)
				}
				ids, errs := manySubmit(ctx, c, 4000, unnamed)
				found := 0
				for _, err := range errs {
					if errors.Is(err, want) {
						found++
					}
				}
				if found == 0 || len(ids) == 0 {
					t.Errorf("%d are stored, %d of %d errors are %v", len(ids), found, len(errs), want)
				}
			})
		})
	}
}

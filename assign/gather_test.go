package assign_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// onDisk is a server whose store syncs each write to the stream of tasks.
type onDisk struct {
	dialer
	disk *natsrun.Disk
	link *natsrun.Link // that was made last
}

func syncing(s dialer) *onDisk {
	return &onDisk{dialer: s, disk: &natsrun.Disk{Prefix: "$KV.TASKS_" + testNS + ".", Sync: time.Millisecond}}
}

func (o *onDisk) Link() *natsrun.Link {
	o.link = o.dialer.Link()
	return o.link
}

func (o *onDisk) Connect(opts ...nats.Option) (*nats.Conn, error) {
	if o.link == nil {
		o.Link()
	}
	return o.dialer.Connect(append(opts, nats.SetCustomDialer(o.disk.Before(o.link)))...)
}

// submitters have so many tasks submitted by 200 at once, and wait for their outcomes. It returns
// how many were there before.
func submitters(t *testing.T, c *assign.Client, n int, opts func(i int) []assign.SubmitOption) (existing int) {
	t.Helper()
	next := make(chan int)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range 200 {
		all.Go(func() {
			for i := range next {
				p, err := assign.Submit(t.Context(), c, double, i, opts(i)...)
				if err != nil {
					t.Errorf("submit %d: %v", i, err)
					continue
				}
				if p.Existing() {
					mu.Lock()
					existing++
					mu.Unlock()
				}
				if out, err := p.Wait(t.Context()); err != nil || out != 2*i {
					t.Errorf("task %d: %d, %v", i, out, err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	return existing
}

// handsOut is a scheduler that does not work.
func handsOut(_ *election.SessionConfig, c *assign.Config, _ *bool) { c.SchedulerWorks = new(false) }

func unnamed(int) []assign.SubmitOption { return nil }

func keyed(i int) []assign.SubmitOption {
	return []assign.SubmitOption{assign.WithUnique(fmt.Sprint(i))}
}

// TestWritesGather: on a store that syncs each write, submissions and outcomes go together; on one
// that does not, none do.
func TestWritesGather(t *testing.T) {
	const tasks = 500
	for _, synced := range []bool{true, false} {
		t.Run(fmt.Sprint(synced), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				ran := newTally()
				forScheduler, forClient := syncing(s), syncing(s)
				if !synced {
					forScheduler.disk.Sync, forClient.disk.Sync = 0, 0
				}
				leader(t, newNode(t, forScheduler, "a", doubling(t, "a", ran), slots(256)))
				began := time.Now()
				submitters(t, New(t, forClient), tasks, unnamed)
				took := time.Since(began)
				if len(ran.of) != tasks || ran.max() != 1 {
					t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
				}
				for what, d := range map[string]*natsrun.Disk{"outcomes": forScheduler.disk, "submissions": forClient.disk} {
					alone, batches, in := d.Stored()
					t.Logf("%s: %d alone, %d in %d batches; %v", what, alone, in, batches, took)
					if gathers := in >= 100; gathers != synced || !synced && batches > 0 {
						t.Errorf("%s: %d alone, %d in %d batches", what, alone, in, batches)
					}
				}
			})
		})
	}
}

// TestKeyedWritesGather: where submissions go together, those with keys do too: each of the three
// writes of a task with those of others.
func TestKeyedWritesGather(t *testing.T) {
	const tasks = 500
	for _, synced := range []bool{true, false} {
		t.Run(fmt.Sprint(synced), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				ran := newTally()
				forClient := syncing(s)
				if !synced {
					forClient.disk.Sync = 0
				}
				leader(t, newNode(t, s, "a", doubling(t, "a", ran), slots(256)))
				began := time.Now()
				c := New(t, forClient)
				submitters(t, c, tasks, keyed)
				took := time.Since(began)
				if len(ran.of) != tasks || ran.max() != 1 {
					t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
				}
				alone, batches, in := forClient.disk.Stored()
				t.Logf("%d alone, %d in %d batches; %v", alone, in, batches, took)
				if alone+in < 3*tasks {
					t.Errorf("%d writes, want three for each task at least", alone+in)
				}
				if gathers := in >= 100; gathers != synced || !synced && batches > 0 {
					t.Errorf("%d alone, %d in %d batches", alone, in, batches)
				}
			})
		})
	}
}

// TestBatchesWiden: a batch of submissions has more under way than usual only where they go
// together.
func TestBatchesWiden(t *testing.T) {
	const tasks = 6000
	for _, synced := range []bool{true, false} {
		t.Run(fmt.Sprint(synced), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				slow := syncing(s)
				if !synced {
					slow.disk.Sync = 0
				}
				var under, most atomic.Int64
				c := New(t, slow, func(next assign.SubmitFunc) assign.SubmitFunc {
					return func(ctx context.Context, x *assign.Submitting) error {
						n := under.Add(1)
						defer under.Add(-1)
						for before := most.Load(); n > before && !most.CompareAndSwap(before, n); before = most.Load() {
						}
						return next(ctx, x)
					}
				})
				if _, err := assign.SubmitBatch(t.Context(), c, double, make([]int, tasks)); err != nil {
					t.Fatal(err)
				}
				alone, batches, in := slow.disk.Stored()
				if alone+in != tasks {
					t.Errorf("%d stored, want %d", alone+in, tasks)
				}
				if n := most.Load(); n > 1000 || (n > 512) != synced {
					t.Errorf("%d under way at once; %d alone, %d in %d batches", n, alone, in, batches)
				}
			})
		})
	}
}

// TestRefusedBatchOfSubmissions: a few of those that go together are there already. Each of these
// is told so, and all others are stored, once.
func TestRefusedBatchOfSubmissions(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const tasks = 500
		ran := newTally()
		leader(t, newNode(t, s, "a", doubling(t, "a", ran), slots(256)))
		named := func(i int) []assign.SubmitOption { return []assign.SubmitOption{assign.WithID(fmt.Sprint("n-", i))} }
		before := New(t, s)
		for i := 50; i < tasks; i += 50 {
			if _, err := assign.Submit(t.Context(), before, double, i, named(i)...); err != nil {
				t.Fatal(err)
			}
		}
		slow := syncing(s)
		if n := submitters(t, New(t, slow), tasks, named); n != tasks/50-1 {
			t.Errorf("%d were there already, want %d", n, tasks/50-1)
		}
		if len(ran.of) != tasks || ran.max() != 1 {
			t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
		}
		if alone, batches, in := slow.disk.Stored(); in < 100 {
			t.Errorf("%d alone, %d in %d batches", alone, in, batches)
		}
	})
}

// TestLostAnswersOfBatches: the answers to batches are lost, and the connection with them. Each
// task is stored and runs once.
func TestLostAnswersOfBatches(t *testing.T) {
	thorough.Only(t, "it runs thousands of tasks")
	for _, of := range []string{"submissions", "submissions with keys", "outcomes"} {
		t.Run(of, func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				const tasks = 1000
				ran := newTally()
				forScheduler, forClient := syncing(s), syncing(s)
				leader(t, newNode(t, forScheduler, "a", nil, handsOut))
				newNode(t, s, "w", doubling(t, "w", ran), workerOnly, slots(256))
				c := New(t, forClient)
				ends := recordEnds(t, s)
				lost, opts := forClient, unnamed
				switch of {
				case "outcomes":
					lost = forScheduler
				case "submissions with keys":
					opts = keyed
				}
				var all sync.WaitGroup
				var over atomic.Bool
				all.Go(func() {
					submitters(t, c, tasks, opts)
					over.Store(true)
				})
				for range 3 {
					before := batchesOf(lost)
					natstest.Eventually(t, "batches are under way", time.Minute, func() (bool, string) {
						return batchesOf(lost) > before+2 || over.Load(), fmt.Sprint(batchesOf(lost))
					})
					lost.link.CutOneWay(natsrun.ToClient)
					time.Sleep(500 * time.Millisecond)
					lost.link.Heal()
				}
				all.Wait()
				ends.check(t, tasks)
				if batchesOf(lost) == 0 {
					t.Error("nothing went together")
				}
				if len(ran.of) != tasks || ran.max() != 1 {
					t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
				}
			})
		})
	}
}

// TestBatchesWithoutAnAnswer: batches are stored, and their answers are lost, but not the
// connection. Each outcome is stored once under each seal, and each task runs once.
func TestBatchesWithoutAnAnswer(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const tasks = 500
		ran := newTally()
		forScheduler, forClient := syncing(s), syncing(s)
		leader(t, newNode(t, forScheduler, "a", nil, handsOut))
		newNode(t, s, "w", doubling(t, "w", ran), workerOnly, slots(256))
		c := New(t, forClient)
		ends := recordEnds(t, s)
		forScheduler.disk.Mute(1)
		forClient.disk.Mute(1)
		submitters(t, c, tasks, unnamed)
		ends.check(t, tasks)
		if n := min(batchesOf(forScheduler), batchesOf(forClient)); n < 1 {
			t.Errorf("%d batches", n)
		}
		if len(ran.of) != tasks || ran.max() != 1 {
			t.Errorf("%d tasks ran, one of them %d times", len(ran.of), ran.max())
		}
	})
}

// ends is the outcomes that were stored, each with the seal that was the last one then.
type ends struct {
	mu    sync.Mutex
	seals int
	under map[string]int
	twice []string // tasks whose outcome was stored twice under one seal
}

func recordEnds(t *testing.T, s dialer) *ends {
	t.Helper()
	nc := natstest.Connect(t, s)
	natstest.Republish(t, nc, "TASKS_"+testNS, stored+">", "kept.>")
	e := &ends{under: map[string]int{}}
	if _, err := nc.Subscribe("kept.>", e.stored); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	return e
}

func (e *ends) stored(m *nats.Msg) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if m.Subject == "kept.seal" {
		e.seals++
	}
	if m.Header.Get("Task-Outcome") == "" {
		return
	}
	if seal, ended := e.under[m.Subject]; ended && seal == e.seals {
		e.twice = append(e.twice, m.Subject)
	}
	e.under[m.Subject] = e.seals
}

// check waits for the outcomes of so many tasks. An outcome about which nothing was known is stored
// again only under another seal: then the former one comes never, however late it is.
func (e *ends) check(t *testing.T, tasks int) {
	t.Helper()
	natstest.Eventually(t, "all have ended", time.Minute, func() (bool, string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.under) == tasks, fmt.Sprint(len(e.under))
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.twice); n > 0 {
		t.Errorf("%d outcomes were stored twice under one seal, the first of %s", n, e.twice[0])
	}
}

func batchesOf(o *onDisk) int {
	_, n, _ := o.disk.Stored()
	return n
}

package assign_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// settled lets the server end what it does for a batch, when the test is over and before the server
// goes.
func settled(t *testing.T) { t.Cleanup(func() { time.Sleep(100 * time.Millisecond) }) }

// records are the subjects of the test's stream that match, without its prefix.
func records(t *testing.T, nc *nats.Conn, filter string) (all []string) {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := js.Stream(t.Context(), "TASKS_"+testNS)
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(stored+filter))
	if err != nil {
		t.Fatal(err)
	}
	for subject := range info.State.Subjects {
		all = append(all, subject[len(stored):])
	}
	return all
}

// lossyClient is a client along a link of its own.
func lossyClient(t *testing.T, s dialer) (*assign.Client, *natsrun.Link) {
	t.Helper()
	link := s.Link()
	nc, err := s.Connect(append(link.Options(), noReports...)...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		nc.Close()
	})
	return c, link
}

// loseAnswers does something while every answer of the server is lost, and lets them through again
// after a while.
func loseAnswers(t *testing.T, link *natsrun.Link, do func() error) {
	t.Helper()
	link.CutOneWay(natsrun.ToClient)
	done := make(chan error, 1)
	go func() { done <- do() }()
	time.Sleep(2 * time.Second) // virtual
	link.Heal()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// loseWrite is loseAnswers for something that reads once and then writes: the reading is answered,
// the write is stored, and its acknowledgement is lost.
func loseWrite(t *testing.T, link *natsrun.Link, do func() error) {
	t.Helper()
	link.DelayDir(natsrun.ToClient, 400*time.Millisecond)
	done := make(chan error, 1)
	go func() { done <- do() }()
	time.Sleep(600 * time.Millisecond) // virtual: the write is stored, the acknowledgement is on its way
	link.CutOneWay(natsrun.ToClient)
	time.Sleep(time.Second)
	link.Heal()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// submitUnique submits a task of a key and returns its id, and whether it was there.
func submitUnique(t *testing.T, c assign.Submitter, key string, opts ...assign.SubmitOption) (string, bool) {
	t.Helper()
	p, err := assign.Submit(t.Context(), c, slow, key, append(opts, assign.WithUnique(key))...)
	if err != nil {
		t.Fatal(err)
	}
	return p.ID(), p.Existing()
}

func TestUniqueKeyHasOneOpenTask(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		c := New(t, s)
		first, existing := submitUnique(t, c, "k")
		if existing {
			t.Error("the first is there already")
		}
		if id, existing := submitUnique(t, c, "k"); id != first || !existing {
			t.Errorf("again: %s, %v; want %s", id, existing, first)
		}
		if id, existing := submitUnique(t, c, "k", assign.WithID("named")); id != first || !existing {
			t.Errorf("again by name: %s, %v; want %s", id, existing, first)
		}
		if id, existing := submitUnique(t, c, "other"); id == first || existing {
			t.Errorf("another key: %s, %v", id, existing)
		}
		p, err := assign.Submit(t.Context(), c, double, 1, assign.WithUnique("k"))
		if err != nil || p.ID() == first || p.Existing() {
			t.Errorf("another kind: %v, %v", p, err)
		}
		b := newBench()
		n := newNode(t, s, "a", b.register(t, "a"))
		b.allStarted(t, 2)
		if id, existing := submitUnique(t, c, "k"); id != first || !existing {
			t.Errorf("while it runs: %s, %v; want %s", id, existing, first)
		}
		close(b.gate)
		if _, err := assign.Find(c, slow, first).Wait(t.Context()); err != nil {
			t.Fatalf("%v\n%s", err, n.dump())
		}
		second, existing := submitUnique(t, c, "k")
		if second == first || existing {
			t.Errorf("when it has ended: %s, %v", second, existing)
		}
		if _, err := assign.Find(c, slow, second).Wait(t.Context()); err != nil {
			t.Error(err)
		}
		if id, existing := submitUnique(t, c, "k", assign.WithID(first)); id != first || !existing {
			t.Errorf("an id that is taken: %s, %v", id, existing)
		}
	})
}

func TestUniqueKeyUnderContention(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		contend(t, s, 1)
	})
}

func TestUniqueKeyOnThreeReplicas(t *testing.T) {
	thorough.Only(t, "it waits for servers")
	t.Parallel() // it waits for servers most of the time
	contend(t, natstest.Tenant(t), 3)
}

// contend has clients submit tasks of one key as fast as they end, and counts who stored one.
func contend(t *testing.T, s dialer, replicas int) {
	var mu sync.Mutex
	live, most, ran := 0, 0, 0
	once := assign.NewKind[int, int]("once")
	register := func(a *assign.Assigner) {
		if err := assign.Handle(a, once, func(_ context.Context, task *assign.Task[int]) (int, error) {
			mu.Lock()
			live++
			ran++
			most = max(most, live)
			mu.Unlock()
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				live--
			}()
			time.Sleep(10 * time.Millisecond)
			return task.Input, nil
		}); err != nil {
			t.Error(err)
		}
	}
	opts := []nodeOption{}
	if replicas > 1 {
		opts = append(opts, replicated)
	}
	leader(t, newNode(t, s, "a", register, opts...))
	const clients, rounds = 4, 10
	stored := map[string]int{}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for range clients {
		c := New(t, s)
		all.Go(func() {
			for range rounds {
				p, err := assign.Submit(ctx, c, once, 1, assign.WithUnique("the one"))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if !p.Existing() {
					stored[p.ID()]++
				}
				mu.Unlock()
				if _, err := p.Wait(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	if most != 1 || ran != len(stored) || len(stored) < rounds {
		t.Errorf("%d at once; %d ran, %d were stored in %d rounds", most, ran, len(stored), rounds)
	}
	t.Logf("%d tasks in %d submissions", len(stored), clients*rounds)
}

func TestUniqueSubmissionWhoseAnswerIsLostIsStoredOnce(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		c, link := lossyClient(t, s)
		if _, existing := submitUnique(t, c, "warm"); existing {
			t.Error("there already")
		}
		var id string
		loseAnswers(t, link, func() error {
			p, err := assign.Submit(t.Context(), c, slow, "x", assign.WithUnique("k"))
			if err != nil {
				return err
			}
			if id = p.ID(); p.Existing() {
				return fmt.Errorf("our own task %s is said to be somebody else's", id)
			}
			return nil
		})
		nc := natstest.Connect(t, s)
		if all := records(t, nc, "q.>"); len(all) != 2 {
			t.Errorf("stored: %v", all)
		}
		if again, existing := submitUnique(t, c, "k"); again != id || !existing {
			t.Errorf("%s, %v; want %s", again, existing, id)
		}
	})
}

// TestUniqueRecordOfNobody: a record that nobody has tidied up keeps nobody out, but one of
// somebody else's making is left alone.
func TestUniqueRecordOfNobody(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		c := New(t, s)
		first, _ := submitUnique(t, c, "k")
		nc := natstest.Connect(t, s)
		key := records(t, nc, "u.>")[0]
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		put := func(text string) {
			t.Helper()
			if _, err := js.Publish(t.Context(), stored+key, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		put(fmt.Sprintf(`{"v":1,"task":%q,"kind":"slow","key":"k"}`, first))
		if id, existing := submitUnique(t, c, "k"); id != first || !existing {
			t.Errorf("by a record of version 1: %s, %v; want %s", id, existing, first)
		}
		for _, text := range []string{`{"v":1,"task":"never","kind":"slow","key":"k"}`, ""} {
			put(text)
			id, existing := submitUnique(t, c, "k")
			if id == first || existing {
				t.Errorf("over %q: %s, %v", text, id, existing)
			}
			if again, existing := submitUnique(t, c, "k"); again != id || !existing {
				t.Errorf("over %q: again %s, %v; want %s", text, again, existing, id)
			}
		}
		put("what is this")
		if p, err := assign.Submit(t.Context(), c, slow, "x", assign.WithUnique("k")); err == nil {
			t.Errorf("over a record of nobody knows what: %s", p.ID())
		}
	})
}

package queue_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/queue"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
	"github.com/rolemanager/rolemanager/bench/proc"
)

func TestMain(m *testing.M) {
	proc.Serve(map[string]proc.Kind{stores.Kind: stores.Serve})
	m.Run()
}

// Every peer is used rightly enough that each task runs, that its handler gets the id under which
// it was submitted, and that its result is stored and counted.
func TestPeersRunTasks(t *testing.T) {
	const tasks, patience = 20, 2 * time.Minute
	for _, p := range queue.Peers {
		for _, tuned := range []bool{false, true} {
			t.Run(p.Name+map[bool]string{true: "/tuned"}[tuned], func(t *testing.T) {
				s, err := stores.Start(p.Store, false)
				if errors.Is(err, stores.ErrMissing) {
					t.Skip(err)
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(s.Close)
				cfg := queue.Config{Addr: s.Addr(), Name: "worker", Slots: 4, Tuned: tuned}
				c, err := p.Connect(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				ctx, stop := context.WithCancel(t.Context())
				t.Cleanup(stop)
				if err := p.Work(ctx, cfg, func(_ context.Context, id string) (string, error) {
					return "did " + id, nil
				}); err != nil {
					t.Fatal(err)
				}
				var ids []string
				for range tasks {
					id, err := c.Submit(t.Context(), "payload")
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, id)
				}
				end := time.Now().Add(patience)
				for _, id := range ids {
					for {
						done, result, err := c.Outcome(t.Context(), id)
						if err != nil {
							t.Fatal(err)
						}
						if done {
							if result != "did "+id {
								t.Errorf("the result of %s is %q", id, result)
							}
							break
						}
						if time.Now().After(end) {
							t.Fatalf("%s has not ended within %v", id, patience)
						}
						time.Sleep(10 * time.Millisecond)
					}
				}
				for {
					n, err := c.Completed(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if n == tasks {
						return
					}
					if n > tasks || time.Now().After(end) {
						t.Fatalf("%d of %d have completed", n, tasks)
					}
					time.Sleep(10 * time.Millisecond)
				}
			})
		}
	}
}

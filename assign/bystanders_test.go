package assign_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestBystanders: of 31 tasks that run together one takes its worker down, again and again. It ends
// dead, and all others end well. A worker that is gone is replaced by another process, as a
// supervisor does.
func TestBystanders(t *testing.T) {
	const innocents, most = 30, 9 // once together, five times in halves, three times blamed
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				k := assign.NewKind[string, string]("mixed", assign.CrashBudget(3))
				fallen := make(chan *node, 64)
				start := func(name string) *node {
					self := make(chan *node, 1)
					n := newNode(t, s, name, func(a *assign.Assigner) {
						if err := assign.Handle(a, k, func(ctx context.Context, task *assign.Task[string]) (string, error) {
							wait := 5 * time.Second
							if task.Input == "poison" {
								wait = 500 * time.Millisecond
							}
							select {
							case <-time.After(wait):
							case <-ctx.Done():
								return "", ctx.Err()
							}
							if task.Input == "poison" {
								n := <-self
								n.link.Cut() // the process is gone, as far as anybody else can tell
								fallen <- n
								<-ctx.Done()
							}
							return "fine", nil
						}); err != nil {
							t.Error(err)
						}
					}, workerOnly, slots(32))
					self <- n
					return n
				}
				leader(t, newNode(t, s, "sched", nil))
				for i := range workers {
					start(fmt.Sprint("w", i))
				}
				c := New(t, s)
				all := make([]*assign.Pending[string], 0, innocents+1)
				for i := range innocents + 1 {
					input := "innocent"
					if i == innocents/2 {
						input = "poison"
					}
					p, err := assign.Submit(t.Context(), c, k, input)
					if err != nil {
						t.Fatal(err)
					}
					all = append(all, p)
				}
				ended := make(chan error, 1)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				poison := all[innocents/2]
				go func() {
					_, err := poison.Wait(ctx)
					ended <- err
				}()
				var gone []*node
				for over := false; !over; {
					select {
					case n := <-fallen:
						gone = append(gone, n)
						start(fmt.Sprint("w", workers+len(gone)))
					case err := <-ended:
						over = true
						var failed *assign.TaskError
						if !errors.As(err, &failed) || failed.Status != assign.StateDead || failed.Cause != "worker_lost" {
							t.Errorf("the poison ended with %v", err)
						}
					}
				}
				for _, p := range all {
					if p == poison {
						continue
					}
					if out, err := p.Wait(ctx); out != "fine" {
						t.Errorf("%s, which has taken no worker down: %v", p.ID(), err)
					}
				}
				if len(gone) > most {
					t.Errorf("it took down %d workers: at most %d", len(gone), most)
				}
				for _, n := range gone {
					n.link.Heal()
				}
			})
		})
	}
}

package assign_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/race"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// TestAWorkerWithThousandsOfTasksIsAdopted: what it holds does not fit into one message.
func TestAWorkerWithThousandsOfTasksIsAdopted(t *testing.T) {
	costly(t)
	sizes := []struct {
		payload int32
		n       int
	}{{512 << 10, 4096}, {160 << 10, 1000}}
	if race.Enabled || !thorough.Larger() { // more than fits into one message is enough
		sizes = sizes[1:]
	}
	for _, x := range sizes {
		t.Run(fmt.Sprint(x.payload), func(t *testing.T) {
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				settled(t)
				var runs atomic.Int64
				gate := make(chan struct{})
				k := assign.NewKind[int, int]("hold")
				a := newNode(t, s, "a", nil)
				leader(t, a)
				newNode(t, s, "w", func(a *assign.Assigner) {
					if err := assign.Handle(a, k, func(ctx context.Context, task *assign.Task[int]) (int, error) {
						runs.Add(1)
						select {
						case <-gate:
							return task.Input, nil
						case <-ctx.Done():
							return 0, ctx.Err()
						}
					}); err != nil {
						t.Error(err)
					}
				}, workerOnly, slots(x.n))
				c := New(t, s)
				inputs := make([]int, x.n)
				for i := range inputs {
					inputs[i] = i
				}
				all, err := assign.SubmitBatch(t.Context(), c, k, inputs, assign.WithEach(func(i int) []assign.SubmitOption {
					return []assign.SubmitOption{assign.WithID(fmt.Sprintf("%s%05d", strings.Repeat("i", 190), i))}
				}))
				if err != nil {
					t.Fatal(err)
				}
				natstest.Eventually(t, "all of them run", 5*time.Minute, func() (bool, string) {
					return runs.Load() == int64(x.n), fmt.Sprint(runs.Load())
				})
				b := newNode(t, s, "b", nil)
				a.close(t)
				leader(t, b)
				natstest.Eventually(t, "the next scheduler adopts them", 5*time.Minute, func() (bool, string) {
					n := 0
					b.count(func(e event.Event) bool {
						if r, ok := e.(event.TaskRecovered); ok {
							n = r.Adopted
						}
						return false
					})
					return n == x.n, fmt.Sprint(n, " adopted")
				})
				close(gate)
				for i, p := range all {
					if out, err := p.Wait(t.Context()); out != i || err != nil {
						t.Fatalf("%d: %d, %v", i, out, err)
					}
				}
				if n := runs.Load(); n != int64(x.n) {
					t.Errorf("%d runs of %d tasks", n, x.n)
				}
			}, func(o *natsrun.Options) { o.Configure = func(so *server.Options) { so.MaxPayload = x.payload } })
		})
	}
}

//go:build realtime

package live_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// TestRealtimeTasksClusterLostAtWrites: over three servers, where writes are guarded by batches,
// the scheduler's process or its successor's is lost at some of its writes, as in
// TestTasksSchedulerLostAtEveryWrite, and in the midst of batches: the first messages of one are
// sent, and what would commit it is not. Each cycle is of other writes.
func TestRealtimeTasksClusterLostAtWrites(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	cluster := natstest.Cluster(t)
	n := cycles(t)
	var all counts
	for i := range n {
		var whole, inside atomic.Int64
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			for j, moment := range []tasks.Moment{tasks.Before, tasks.After, tasks.Delayed} {
				for k, within := range []bool{false, true} {
					successor := (i+j+k)%2 == 1
					at, to := 1+(11*i+10*j)%boundaries, &whole
					if within {
						at, to = 1+(3*i+2*j)%6, &inside
					}
					name := fmt.Sprintf("c%d-%v-%v", i, moment, within)
					t.Run(fmt.Sprintf("%v write %d, inside a batch: %t", moment, at, within), func(t *testing.T) {
						t.Parallel()
						snip := tasks.NewSnip(name, moment, at)
						snip.Inside = within
						if loseAt(t, cluster, name, jetstream.FileStorage, snip, successor, map[string]bool{}) {
							to.Add(1)
						}
					})
				}
			}
		})
		if whole.Load()+inside.Load() < 4 || inside.Load() == 0 {
			t.Errorf("only %d processes were lost at their writes, %d of them inside a batch", whole.Load()+inside.Load(),
				inside.Load())
		}
		all.add(int(whole.Load()), "schedulers lost at a write")
		all.add(int(inside.Load()), "schedulers lost inside a batch")
	}
	played(t, n, "schedulers lost at six of their writes over three replicas", all)
}

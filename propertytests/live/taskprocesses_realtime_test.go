//go:build realtime

package live_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// TestRealtimeTaskProcesses: cycle after cycle, while tasks come and run, the scheduler's process
// is killed, the next scheduler's is stopped for two leases, and a worker's is killed; the one that
// was killed is started again. Each task has one outcome, of an attempt that ran. One cycle of
// each, on a cluster, is TestTasksProcessesOnCluster.
func TestRealtimeTaskProcesses(t *testing.T) {
	if os.Getenv("ROLEMANAGER_CYCLES") == "" {
		t.Skip("set ROLEMANAGER_CYCLES to play it; TestTasksProcessesOnCluster plays one of each")
	}
	server := natstest.Server(t, natstest.Listen)
	a := tasks.New(t, server, tasks.Config{Name: taskChildrenNS, TTL: taskChildTTL, Storage: jetstream.FileStorage})
	defer a.Close()
	c := &taskChildren{t: t, urls: server.URL(), dir: t.TempDir(), running: map[string]*taskStart{}}
	for _, name := range []string{"a", "b", "c"} {
		c.start(name)
	}
	c.leader(a)
	recur(a)
	end := c.longWays(a)

	const submitters = 10
	var submitting sync.WaitGroup
	var mu sync.Mutex
	submitted, failed := 0, []error(nil)
	over := make(chan struct{})
	acknowledged := make(chan struct{}, 1<<20)
	for from := range submitters {
		submitting.Go(func() {
			for i := from; ; i += submitters {
				select {
				case <-over:
					return
				default:
				}
				err := oneOutcome(a, i, acknowledged)
				mu.Lock()
				submitted++
				if err != nil {
					failed = append(failed, err)
				}
				mu.Unlock()
			}
		})
	}
	more := func(n int) { // acknowledged since
		t.Helper()
		from := len(acknowledged)
		natstest.Eventually(t, fmt.Sprintf("%d more tasks are submitted", n), patience, func() (bool, string) {
			return len(acknowledged) >= from+n, fmt.Sprint(len(acknowledged) - from)
		})
	}
	n := cycles(t)
	for range n {
		more(submitters)
		name := c.leader(a)
		c.underWay(name)
		c.kill(name)
		c.start(name)
		more(submitters)
		stopped := c.leader(a)
		c.stop(stopped)
		more(submitters)
		name = c.other(c.leader(a), stopped)
		c.kill(name) // a worker, as far as anybody knows
		c.start(name)
		if t.Failed() {
			break
		}
	}
	c.resumed()
	close(over)
	submitting.Wait()
	for _, err := range failed {
		t.Error(err)
	}
	end()
	c.end(a)
	all := c.check(a, submitted)
	all.add(n, "schedulers killed")
	all.add(n, "schedulers stopped")
	all.add(n, "workers killed")
	played(t, n, "a scheduler's process killed, one stopped for two TTLs, and a worker's killed", all)
}

//go:build realtime

package live_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/tasks"
)

// taskChildren are the processes of TestTasksProcessesOnCluster, each start of each.
type taskChildren struct {
	t       *testing.T
	urls    string
	dir     string
	starts  []*taskStart
	running map[string]*taskStart
}

// taskStart is one process.
type taskStart struct {
	name, process, path string
	cmd                 *exec.Cmd
	said                bytes.Buffer
	killed              time.Time
	stopped             bool
}

func (c *taskChildren) start(name string) {
	c.t.Helper()
	s := &taskStart{name: name, process: fmt.Sprintf("%s#%d", name, len(c.starts))}
	s.path = filepath.Join(c.dir, fmt.Sprint(len(c.starts)))
	s.cmd = exec.Command(os.Args[0], "-test.run", "^TestTasksChild$", "-test.timeout", "10m")
	s.cmd.Env = append(os.Environ(), taskChildURL+"="+c.urls, taskChildName+"="+name, taskChildFile+"="+s.path)
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.said
	if err := s.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.starts, c.running[name] = append(c.starts, s), s
	c.t.Cleanup(func() { // it has ended, as a rule
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
}

// kill ends a process without a word.
func (c *taskChildren) kill(name string) {
	c.t.Helper()
	s := c.running[name]
	signalTo(c.t, s.cmd, syscall.SIGKILL)
	_ = s.cmd.Wait() // killed
	s.killed = time.Now()
}

// stoppedFor is for how long a process stands still: what it does not know by then is what is
// tested.
const stoppedFor = 2 * taskChildTTL

// stop has a process stand still for a while.
func (c *taskChildren) stop(name string) {
	c.t.Helper()
	s := c.running[name]
	s.stopped = true
	signalTo(c.t, s.cmd, syscall.SIGSTOP)
	time.Sleep(stoppedFor)
	signalTo(c.t, s.cmd, syscall.SIGCONT)
}

// leader is the process that leads by its own account, and by that of the bucket.
func (c *taskChildren) leader(a *tasks.Arena) (name string) {
	c.t.Helper()
	natstest.Eventually(c.t, "a scheduler", patience, func() (ok bool, seen string) {
		ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Second)
		defer cancel()
		o, err := assign.GetOverview(ctx, a.Operator)
		if err != nil {
			return false, err.Error()
		}
		name = o.Scheduler
		return c.running[name] != nil, fmt.Sprintf("%+v", o)
	})
	return name
}

// TestTasksProcessesOnCluster: processes schedule and run 1,500 tasks over three servers, and
// others that take far longer than a lease, while two of them are killed and started again, one is
// stopped for two leases, and a server is killed. Each task has one outcome: of an attempt that
// ran, unless it was cancelled.
func TestTasksProcessesOnCluster(t *testing.T) {
	playEach(t, "1,500 tasks over three servers: two processes killed, one stopped for two TTLs, a server killed",
		tasksOverCluster)
}

func tasksOverCluster(t *testing.T, _ int, all *counts) {
	const wanted = 1500
	cluster := natstest.Cluster(t)
	a := tasks.New(t, cluster, tasks.Config{Name: taskChildrenNS, TTL: taskChildTTL, Storage: jetstream.FileStorage})
	defer a.Close()
	c := &taskChildren{t: t, urls: cluster.URLs(), dir: t.TempDir(), running: map[string]*taskStart{}}
	for _, name := range []string{"a", "b", "c"} {
		c.start(name)
	}
	c.leader(a)
	recur(a)
	end := c.longWays(a)

	var submitting sync.WaitGroup
	quarter := make(chan struct{}, wanted) // one for each that was acknowledged
	results := make(chan error, wanted)
	for from := range 10 {
		submitting.Go(func() {
			for i := from; i < wanted; i += 10 {
				results <- oneOutcome(a, i, quarter)
			}
		})
	}
	acknowledged := func(n int) {
		t.Helper()
		natstest.Eventually(t, fmt.Sprintf("%d tasks are submitted", n), patience,
			func() (bool, string) { return len(quarter) >= n, fmt.Sprint(len(quarter)) })
	}
	acknowledged(wanted / 8)
	name := c.leader(a)
	c.kill(name)
	c.start(name)
	acknowledged(2 * wanted / 8)
	stopped := c.leader(a)
	c.stop(stopped)
	acknowledged(3 * wanted / 8)
	victim := serverOf(t, cluster)
	cluster.Kill(victim)
	acknowledged(4 * wanted / 8)
	name = c.other(c.leader(a), stopped)
	c.kill(name) // a worker, as far as anybody knows
	if err := cluster.Restart(victim); err != nil {
		t.Fatal(err)
	}
	c.start(name)
	submitting.Wait()
	close(results)
	for err := range results {
		if err != nil {
			t.Error(err)
		}
	}
	end()
	c.end(a)
	for _, some := range c.check(a, wanted) {
		all.add(some.n, some.what)
	}
	all.add(2, "processes killed")
	all.add(1, "processes stopped")
	all.add(1, "servers killed")
}

// other is a process beside those two.
func (c *taskChildren) other(names ...string) string {
	for name := range c.running {
		if name != names[0] && name != names[1] {
			return name
		}
	}
	return names[1]
}

// serverOf is the server that leads the stream of the tasks.
func serverOf(t *testing.T, cluster *natsrun.Cluster) (i int) {
	t.Helper()
	natstest.Eventually(t, "the stream has a leader", patience, func() (ok bool, seen string) {
		i, ok = cluster.LeaderOf("TASKS_" + taskChildrenNS)
		return ok, "none"
	})
	return i
}

// end waits until all has ended, and closes the sessions of all that run.
func (c *taskChildren) end(a *tasks.Arena) {
	c.t.Helper()
	if err := assign.RemoveRecurrence(c.t.Context(), a.Operator, beat); err != nil {
		c.t.Fatal(err)
	}
	a.Settled(patience)
	c.opened()
	for _, s := range c.running {
		signalTo(c.t, s.cmd, syscall.SIGTERM)
	}
	for _, s := range c.running {
		if err := s.cmd.Wait(); err != nil {
			c.t.Errorf("%s ended with %v: %s", s.process, err, &s.said)
		}
	}
}

// check compares what the processes have written down with what was stored, and counts it.
func (c *taskChildren) check(a *tasks.Arena, wanted int) counts {
	c.t.Helper()
	var all pages
	for _, s := range c.starts {
		all.add(readDiary(c.t, a, s))
	}
	a.Check()
	ended := map[string]int{}
	for id, history := range a.RecordLog.Records() {
		status := "open"
		if last := history[len(history)-1]; last.Outcome != nil {
			status = last.Outcome.Status
		}
		if status != "succeeded" && (status != "cancelled" || !mayBeCancelled(id)) {
			c.t.Errorf("%s is %s:\n%s", id, status, a.History(id))
		}
		if _, of := numberOf(id); of {
			ended[status]++
		}
	}
	ticks := a.Ticks(beat, beatStep)
	counted := counts{
		{ended["succeeded"], "tasks succeeded"},
		{ended["cancelled"], "cancelled"},
		{ticks, "ticks"},
		{len(a.Ledger.Runs()), "attempts"},
		{all.killed, "killed"},
		{all.saved, "checkpoints"},
		{all.resumed, "resumed"},
		{all.terms, "terms"},
		{all.adopted, "adopted"},
	}
	c.t.Logf("%v", counted)
	if n := ended["succeeded"] + ended["cancelled"]; n != wanted || all.terms < 3 {
		c.t.Errorf("%d tasks have ended, want %d; %d terms, want 3 at least", n, wanted, all.terms)
	}
	for _, some := range counted {
		if some.n == 0 {
			c.t.Errorf("no %s: this proves nothing", some.what)
		}
	}
	return counted
}

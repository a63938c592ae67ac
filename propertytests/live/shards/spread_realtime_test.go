//go:build realtime

package shards

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
)

var (
	shards    = flag.Int("shards", 60, "how many shards")
	processes = flag.Int("processes", 6, "how many processes")
	profiles  = flag.String("profiles", "", "a folder for the processor profiles of the processes")
	rest      = flag.Duration("rest", 2*time.Second, "for how long writes at rest are counted")
)

// patience is how long anything may take.
var patience = flag.Duration("patience", time.Minute, "how long anything may take")

type company struct {
	t       *testing.T
	url     string
	running map[string]*exec.Cmd
	starts  int
	heads   *heads
}

func (f *company) start(name string) {
	f.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childURL+"="+f.url, childName+"="+name, fmt.Sprintf("%s=%d", childShards, *shards),
		childCPU+"="+*profiles)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	f.running[name] = cmd
	f.starts++
}

// end ends a process, and waits for it.
func (f *company) end(name string, by os.Signal) {
	f.t.Helper()
	cmd := f.running[name]
	delete(f.running, name)
	if err := cmd.Process.Signal(by); err != nil {
		f.t.Error(err)
	}
	if err := cmd.Wait(); (err == nil) != (by != syscall.SIGKILL) {
		f.t.Errorf("%s, after %v: %v", name, by, err)
	}
}

// spread waits until all that run lead their share, and returns how long that took.
func (f *company) spread(what string) time.Duration {
	f.t.Helper()
	began := time.Now()
	var alive []string
	for name := range f.running {
		alive = append(alive, name)
	}
	natstest.Eventually(f.t, what, *patience, func() (bool, string) { return f.heads.spread(alive, f.starts) })
	return time.Since(began).Round(time.Millisecond)
}

// TestSpreadProcesses: processes that start together spread the shards, and again when one is
// killed, and when all are restarted, one after the other. Nothing is written about shards at rest.
func TestSpreadProcesses(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	f := &company{t: t, url: s.URL(), running: map[string]*exec.Cmd{}, heads: newHeads(t, natstest.Connect(t, s), *shards)}
	t.Cleanup(func() {
		for _, cmd := range f.running {
			if *profiles == "" {
				_ = cmd.Process.Kill()
			}
			_ = cmd.Process.Signal(syscall.SIGTERM) // to write its profile
			_ = cmd.Wait()
		}
	})
	all := names(*processes)
	for _, name := range all {
		f.start(name)
	}
	took := f.spread("the shards of processes that start together are spread")
	moves, most := f.heads.moves()
	writes, other := f.heads.written()
	t.Logf("%d shards over %d processes: spread %v after the start; %d moves, at most %d of one; %d writes, %d others",
		*shards, *processes, took, moves, most, writes, other)
	f.rests()

	victim := all[len(all)/2]
	f.end(victim, syscall.SIGKILL)
	took = f.spread("the shards of a killed process are spread")
	moves, most = f.heads.moves()
	t.Logf("spread %v after kill -9; %d moves, at most %d of one", took, moves, most)
	f.start(victim)
	took = f.spread("the shards are spread over one that came back")
	moves, most = f.heads.moves()
	t.Logf("spread %v after it was started again; %d moves, at most %d of one", took, moves, most)

	began := time.Now()
	for _, name := range all {
		f.end(name, syscall.SIGTERM)
		f.start(name)
		f.spread("the shards are spread after a restart of " + name)
	}
	moves, most = f.heads.moves()
	each := float64(moves) / float64(*shards)
	t.Logf("all restarted within %v: %.2f moves a shard, at most %d of one", time.Since(began).Round(time.Second), each,
		most)
	if f.calm() && (each > 2.2 || most > 8) {
		t.Errorf("%.2f moves a shard, at most %d of one, want 2.2 and 8", each, most)
	}
	f.rests()
	for _, name := range slices.Backward(all) {
		f.end(name, syscall.SIGTERM)
	}
}

// calm reports whether no process lost its session, as on a busy machine: that moves shards too.
func (f *company) calm() bool {
	n := f.heads.sessions()
	if n > f.starts {
		f.t.Logf("%d sessions of %d starts: moves do not count", n, f.starts)
	}
	return n == f.starts
}

// rests counts what is written while nothing happens.
func (f *company) rests() {
	f.t.Helper()
	f.heads.moves()
	f.heads.written()
	time.Sleep(*rest)
	writes, other := f.heads.written()
	f.t.Logf("at rest for %v: %d writes about shards, %d others", *rest, writes, other)
	if moves, _ := f.heads.moves(); moves > 0 && f.calm() {
		f.t.Errorf("%d moves at rest", moves)
	}
}

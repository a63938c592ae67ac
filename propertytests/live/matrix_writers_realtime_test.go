//go:build realtime

package live_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// moreFaults is how often a cycle does more than once what it does, at most, until a leader was
// deposed that had written.
const moreFaults = 20

// writers are processes on a cluster that write while they lead, each along its own connection:
// what a deposed one sends late goes to the server that it has, which may be cut off from the
// others.
type writers struct {
	t *testing.T
	a *elections.Arena
	c *natsrun.Cluster
	b *books

	faults, beyond, behind, late int
}

func onWriters(t *testing.T) *writers {
	t.Helper()
	w := &writers{t: t}
	w.a, w.c = onCluster(t, steppedTTL, func(a *elections.Arena, p *elections.Plan) {
		if w.b == nil {
			w.b = openBooks(t, a.Network, fencedStore)
		}
		name := p.Name
		p.Work.Do = func(ctx context.Context, term *election.Term) error {
			all := a.Processes()
			i := slices.IndexFunc(all, func(p *elections.Process) bool { return p.Name == name })
			js, err := jetstream.New(all[i].Conn)
			if err != nil {
				return err
			}
			return w.b.keepOver(ctx, term, js)
		}
	})
	return w
}

// cycle does something again and again until it has deposed a leader that had written, and whose
// late write was refused.
func (w *writers) cycle(fault func(again bool) (deposed bool)) {
	w.t.Helper()
	for n := range moreFaults {
		w.faults++
		deposed := fault(n > 0)
		whole(w.t, w.c)
		w.a.AwaitLeader(role, patience)
		if deposed {
			return
		}
	}
	w.t.Fatalf("%d times, and each time who led has led on, or nobody could", moreFaults)
}

// next waits for a leader that has written since: of a later epoch, or more of that one than it
// had. The leader must be one that possible accepts.
func (w *writers) next(what string, epoch uint64, had int, possible func(*elections.Process) bool) (later uint64) {
	w.t.Helper()
	w.a.Await(what, role, patience, func() bool {
		p := w.a.Leader(role)
		if p == nil || !possible(p) {
			return false
		}
		later = p.Epoch(role)
		return later > epoch && w.b.entries(later) > 0 || later == epoch && w.b.entries(later) > had
	})
	return later
}

// refuse has the leader of an epoch write late.
func (w *writers) refuse(epoch uint64) {
	w.t.Helper()
	w.b.refuse(w.t, epoch)
	w.late++
}

// counted checks everything, and says what it has come to.
func (w *writers) counted() (all counts) {
	w.t.Helper()
	w.t.Logf("%d terms, %d sessions killed; %s; %d late writes refused", len(holds(w.a, 1)), w.a.RecordLog.Kills(),
		w.b.check(w.t), w.late)
	w.a.Check()
	all.of(w.a)
	w.b.count(&all)
	return all
}

// TestClusterPartition: the stream's leader is cut off with the clients that are connected to it.
// The majority elects another one, and a process that reaches that one leads the role, and writes,
// before they are one again. A late write of a deposed leader is refused. A write that it sends to
// the server that is cut off is not acknowledged, and is not there when the servers are one cluster
// again.
func TestClusterPartition(t *testing.T) {
	w := onWriters(t)
	n := cycles(t)
	for range n {
		w.cycle(w.partition)
	}
	t.Logf("%d partitions, %d of them with a candidate on the other side, %d late writes to a server that was cut off",
		w.faults, w.beyond, w.behind)
	all := w.counted()
	all.add(w.faults, "partitions")
	all.add(w.beyond, "of them with a candidate on the other side")
	all.add(w.behind, "stale writes sent to a server that was cut off")
	played(t, n, "the stream's leader cut off, until a leader that had written was deposed", all)
}

// partition cuts the stream's leader off. Chance decides which process is on which side; with
// again, only the role's leader is on its side.
func (w *writers) partition(again bool) (deposed bool) {
	w.t.Helper()
	victim := streamLeader(w.t, w.c, -1)
	away := w.c.Server(victim).Running().Name()
	reaches := func(p *elections.Process) bool { return p.Conn.ConnectedServerName() != away }
	before, _ := w.b.writer(w.a, 0)
	if again {
		for _, p := range w.a.Alive() {
			w.connects(p, fmt.Sprintf("to %s: %t", away, p == before), func() bool { return reaches(p) == (p != before) })
		}
	}
	before, epoch := w.b.writer(w.a, 0)
	had := w.b.entries(epoch)
	if err := w.c.Partition([]int{victim}); err != nil {
		w.t.Fatal(err)
	}
	defer w.c.HealPartition()
	streamLeader(w.t, w.c, victim)
	if !slices.ContainsFunc(w.a.Alive(), reaches) {
		return false // nobody can lead
	}
	w.beyond++
	later := w.next("somebody leads and writes who reaches the majority", epoch, had, func(p *elections.Process) bool {
		return reaches(p) && (p == before || !before.Leads(role))
	})
	if later == epoch {
		return false
	}
	w.b.refuseInFile(w.t, epoch)
	if !reaches(before) {
		w.a.Note("%s writes late to %s: %v", before, away, w.b.late(w.t, epoch))
		w.behind++
	}
	w.c.HealPartition()
	w.refuse(epoch)
	return true
}

// connects has a process look for another server until it has one that will do.
func (w *writers) connects(p *elections.Process, what string, will func() bool) {
	w.t.Helper()
	natstest.Eventually(w.t, fmt.Sprint(p, " connects ", what), patience, func() (bool, string) {
		if !p.Conn.IsConnected() {
			return false, p.Conn.Status().String()
		}
		if will() {
			return true, ""
		}
		return false, fmt.Sprint("it is connected to ", p.Conn.ConnectedServerName(), ", and continues to the next: ",
			p.Conn.ForceReconnect())
	})
}

// TestClusterServerKilled: the server that leads the stream is killed, and comes back later: the
// majority continues, and what a leader that it has deposed writes late is refused.
func TestClusterServerKilled(t *testing.T) {
	w := onWriters(t)
	n := cycles(t)
	for range n {
		w.cycle(w.kill)
	}
	all := w.counted()
	all.add(w.faults, "servers killed")
	played(t, n, "the server killed that leads the stream, until a leader that had written was deposed", all)
}

// kill kills the server that leads the stream. It comes back when somebody writes under another
// one.
func (w *writers) kill(bool) (deposed bool) {
	w.t.Helper()
	_, epoch := w.b.writer(w.a, 0)
	victim := streamLeader(w.t, w.c, -1)
	w.c.Kill(victim)
	streamLeader(w.t, w.c, victim)
	had := w.b.entries(epoch)
	later := w.next("somebody leads and writes", epoch, had, func(*elections.Process) bool { return true })
	if later > epoch {
		w.refuse(epoch)
	}
	if err := w.c.Restart(victim); err != nil {
		w.t.Fatal(err)
	}
	return later > epoch
}

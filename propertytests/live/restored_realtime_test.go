//go:build realtime

package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// restored is a cluster whose three stores are put back together to what they were.
type restored struct {
	t           *testing.T
	c           *natsrun.Cluster
	dir, backup string
	kv          jetstream.KeyValue // once somebody has written by it
}

func (r *restored) connect() *nats.Conn {
	r.t.Helper()
	nc, err := r.c.Connect(nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond), nats.ReconnectBufSize(-1),
		nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(nc.Close)
	return nc
}

// join opens a session and takes part in the first role.
func (r *restored) join(id string) *election.Session {
	r.t.Helper()
	s, err := election.NewSession(election.SessionConfig{
		Bucket: elections.Bucket, BucketAutoCreate: true, Storage: jetstream.FileStorage, Replicas: 3, InstanceID: id,
		TTL: 3 * time.Second,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = s.Close(r.t.Context()) }) // what is left to say, Err has said
	if err := s.Open(r.t.Context(), r.connect()); err != nil {
		r.t.Fatal(err)
	}
	r.leads(s, role)
	return s
}

// leads takes part in a role, and waits until it is led.
func (r *restored) leads(s *election.Session, name string) *election.Election {
	r.t.Helper()
	e, err := s.Campaign(election.RoleConfig{Role: name, Lead: untilEnded})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := e.Start(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	natstest.Eventually(r.t, name+" is led", patience,
		func() (bool, string) { return e.IsLeader(), fmt.Sprint(e.Status(), s.Err()) })
	return e
}

func (r *restored) stop() {
	for i := range r.c.Size() {
		r.c.Stop(i)
	}
}

func (r *restored) start() {
	r.t.Helper()
	for i := range r.c.Size() {
		if err := r.c.Restart(i); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := errors.Join(r.c.WaitReady(r.t.Context()), r.c.WaitStream(r.t.Context(), stream)); err != nil {
		r.t.Fatal(err)
	}
}

// ends waits until somebody who has seen what is lost has ended for that.
func (r *restored) ends(began time.Time, who string, done <-chan struct{}, why func() error) {
	r.t.Helper()
	select {
	case <-done:
		r.t.Logf("%s has ended %v after the servers were back", who, time.Since(began).Round(100*time.Millisecond))
		if !errors.Is(why(), election.ErrStoreRegressed) {
			r.t.Errorf("%s has ended with %v, want %v", who, why(), election.ErrStoreRegressed)
		}
	case <-time.After(patience):
		r.t.Fatalf("%s has not ended: %v", who, why())
	}
}

func untilEnded(ctx context.Context, _ *election.Term) error {
	<-ctx.Done()
	return nil
}

// TestRealtimeClusterRestored: three servers come back with an earlier state of all their stores. A
// session that has seen more would have every write of it refused for ever, and an observer name a
// leader of a past that is gone. Both end and say why, as on a single server, once this cannot be a
// replica that lags; and new sessions begin as ever.
func TestRealtimeClusterRestored(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	playEach(t, "three servers put back to what they were", restoreCluster)
}

func restoreCluster(t *testing.T, _ int, all *counts) {
	r := &restored{t: t, dir: t.TempDir(), backup: t.TempDir()}
	r.c = natstest.Cluster(t, func(o *natsrun.ClusterOptions) { o.Dir = r.dir })
	s := r.join("a")
	r.stop()
	if err := os.CopyFS(r.backup, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	r.start()
	for i := range 3 {
		r.leads(s, fmt.Sprint("later-", i))
	}
	o, err := election.Observe(t.Context(), r.connect(), elections.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	natstest.Eventually(t, "the observer has seen what will be lost", patience, func() (bool, string) {
		all := o.Members()
		return len(all) == 1 && slices.Contains(all[0].Roles, "later-2"), fmt.Sprintf("%+v", all)
	})

	r.stop()
	for i := range r.c.Size() {
		if err := os.RemoveAll(filepath.Join(r.dir, fmt.Sprint("n", i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(r.dir, os.DirFS(r.backup)); err != nil {
		t.Fatal(err)
	}
	r.start()
	began := time.Now()
	r.ends(began, "the session", s.Done(), s.Err)
	r.ends(began, "the observer", o.Done(), o.Err)
	r.join("b")
	all.add(1, "clusters put back")
	all.add(2, "sessions and observers ended that had seen more")
}

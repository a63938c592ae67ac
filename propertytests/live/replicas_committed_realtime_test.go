//go:build realtime

package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// keepStore copies the store of a server, which is down meanwhile, and returns what puts it back
// when it is down again.
func keepStore(t *testing.T, c *natsrun.Cluster, i int) (putBack func()) {
	t.Helper()
	dir, kept := c.Server(i).StoreDir(), t.TempDir()
	c.Stop(i)
	if err := os.CopyFS(kept, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	restart(t, c, i)
	return func() {
		t.Helper()
		if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(kept))); err != nil {
			t.Fatal(err)
		}
	}
}

// restart brings a server back, and waits until it is up to date.
func restart(t *testing.T, c *natsrun.Cluster, i int) {
	t.Helper()
	if err := c.Restart(i); err != nil {
		t.Fatal(err)
	}
	whole(t, c)
}

// TestRealtimeClusterCommittedLost: of three servers one is down, and another one loses what it has
// stored last while the third is down: the two are a majority, and what both lack is gone, though
// it was committed (nats-server issue 7567; Jepsen's report on NATS 2.12.1). Revisions are given
// again, so that epochs go back. A process that has seen a lost record ends and says so, and the
// resource refuses a leader with an epoch below the newest one that it has seen. In every second
// cycle, the first one too, the third comes back before that: it keeps what the others have lost,
// never catches up with them, and shows it to whose watch it serves.
func TestRealtimeClusterCommittedLost(t *testing.T) {
	t.Parallel() // it waits, nearly all the time
	playEach(t, "a committed term lost, by a replica that has lost its tail and one that was down", loseCommitted)
}

func loseCommitted(t *testing.T, i int, all *counts) {
	early := i%2 == 0
	r := &restored{t: t, dir: t.TempDir()}
	r.c = natstest.Cluster(t, func(o *natsrun.ClusterOptions) { o.Dir = r.dir })
	s := r.join("a")
	loses := (streamLeader(t, r.c, -1) + 1) % r.c.Size()
	lags, third := (loses+1)%r.c.Size(), (loses+2)%r.c.Size()
	putBack := keepStore(t, r.c, loses)
	r.c.Stop(lags)
	streamLeader(t, r.c, lags)

	for i := range 200 { // so many revisions that will be given again
		r.put(fmt.Sprint("probe.", i))
	}
	resource := fencing.NewGuard(fencing.Token{})
	if err := resource.Admit(r.leads(s, "later").Token()); err != nil {
		t.Fatal(err)
	}
	seen := resource.High()
	o, err := election.Observe(t.Context(), r.connect(), elections.Bucket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	natstest.Eventually(t, "the observer has seen what will be lost", patience, func() (bool, string) {
		all := o.Members()
		return len(all) == 1 && slices.Contains(all[0].Roles, "later"), fmt.Sprintf("%+v", all)
	})

	r.c.Kill(loses)
	putBack()
	r.c.Kill(third)
	for _, i := range []int{loses, lags} {
		if err := r.c.Restart(i); err != nil {
			t.Fatal(err)
		}
	}
	streamLeader(t, r.c, third)
	if early {
		restart(t, r.c, third)
	}
	began := time.Now()
	r.ends(began, "the session", s.Done(), s.Err)
	r.ends(began, "the observer", o.Done(), o.Err)
	if early { // a process that came now might be shown what is lost
		r.c.Stop(third)
		streamLeader(t, r.c, third)
		all.add(1, "that came back with them")
	}
	again := r.leads(r.join("b"), "later").Token()
	if again.Epoch >= seen.Epoch {
		t.Fatalf("epoch %d comes after %d: nothing was lost", again.Epoch, seen.Epoch)
	}
	if err := resource.Admit(again); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("the resource has seen epoch %d, and says to %d: %v", seen.Epoch, again.Epoch, err)
	}
	all.add(1, "committed terms lost")
	all.add(2, "sessions and observers ended that had seen them")
	all.add(1, "leaders refused that came behind them")
}

// put writes a key, as soon as the stream has a leader.
func (r *restored) put(key string) {
	r.t.Helper()
	if r.kv == nil {
		js, err := jetstream.New(r.connect())
		if err != nil {
			r.t.Fatal(err)
		}
		natstest.Eventually(r.t, "the bucket is found", patience, func() (bool, string) {
			ctx, cancel := context.WithTimeout(r.t.Context(), 3*time.Second)
			defer cancel()
			r.kv, err = js.KeyValue(ctx, elections.Bucket)
			return err == nil, fmt.Sprint(err)
		})
	}
	natstest.Eventually(r.t, "a key is written", patience, func() (bool, string) {
		ctx, cancel := context.WithTimeout(r.t.Context(), 3*time.Second)
		defer cancel()
		_, err := r.kv.Put(ctx, key, nil)
		return err == nil, fmt.Sprint(err)
	})
}

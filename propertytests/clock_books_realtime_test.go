//go:build realtime

package propertytests_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/arena"
)

// books are what leaders write into while clocks step: a file that compares epochs, and a store on the same servers. They are
// reached along a path of their own, which stays whole when a leader's is cut: what keeps a deposed one out is its epoch alone.
type books struct {
	js  jetstream.JetStream
	dir string

	mu    sync.Mutex
	terms map[uint64]*bookkeeper
}

// bookkeeper is one term's way to write, and how many entries both have taken.
type bookkeeper struct {
	holder  string
	store   *fencing.Store
	entries int
}

func openBooks(t *testing.T, c *natsrun.ProcessCluster) *books {
	t.Helper()
	nc, err := c.Connect(nats.MaxReconnects(-1), nats.ReconnectWait(steppedTTL/50), nats.PingInterval(steppedTTL/4))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return &books{js: js, dir: t.TempDir(), terms: map[uint64]*bookkeeper{}}
}

// keep is the work of a leader: an entry into the file and one into the store, again and again.
func (b *books) keep(ctx context.Context, t *election.Term) error {
	store, err := fencing.OpenStore(ctx, b.js, fencedStore, t.Token(), fencing.WithCreate(3))
	if err != nil {
		return err
	}
	file, err := openFenced(b.dir)
	if err != nil {
		return err
	}
	defer file.file.Close()
	k := &bookkeeper{holder: t.Token().Holder, store: store}
	pace := time.NewTicker(steppedTTL / 100)
	defer pace.Stop()
	for n := 0; ; n++ {
		e := entry{t.Epoch(), n, k.holder}
		if err := file.add(e); err != nil {
			return err
		}
		if _, err := store.Put(ctx, fmt.Sprintf("%d.%d", e.epoch, n), []byte(e.String())); err != nil {
			return err
		}
		b.mu.Lock()
		k.entries++
		b.terms[e.epoch] = k
		b.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil
		case <-pace.C:
		}
	}
}

// writer waits for a leader of a later epoch that has written, and returns it.
func (b *books) writer(a *arena.Arena, after uint64) (p *arena.Process, epoch uint64) {
	a.TB.Helper()
	a.Await(fmt.Sprintf("a leader after epoch %d has written", after), role, patience, func() bool {
		if p = a.Leader(role); p == nil {
			return false
		}
		epoch = p.Epoch(role)
		return epoch > after && b.of(epoch) != nil
	})
	return p, epoch
}

func (b *books) of(epoch uint64) *bookkeeper {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.terms[epoch]
}

// refuse has a deposed leader write into both, when a later one has done so.
func (b *books) refuse(t *testing.T, epoch uint64) {
	t.Helper()
	k := b.of(epoch)
	file, err := openFenced(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer file.file.Close()
	late := entry{epoch, -1, k.holder}
	if err := file.add(late); !errors.Is(err, errOldEpoch) {
		t.Errorf("the file took a write of epoch %d after a later one: %v", epoch, err)
	}
	natstest.Eventually(t, "the store refuses what is late", patience, func() (bool, string) { // while the stream has no leader it cannot
		ctx, cancel := context.WithTimeout(t.Context(), steppedTTL)
		defer cancel()
		_, err := k.store.Put(ctx, "late", []byte(late.String()))
		if err == nil {
			t.Fatalf("the store took a write of epoch %d after a later one", epoch)
		}
		return errors.Is(err, fencing.ErrStale), err.Error()
	})
}

// check reads both, and says how much they have taken.
func (b *books) check(t *testing.T) string {
	t.Helper()
	b.mu.Lock()
	terms, acknowledged := len(b.terms), 0
	for _, k := range b.terms {
		acknowledged += k.entries
	}
	b.mu.Unlock()
	inFile, err := readLedger(filepath.Join(b.dir, fencedFile))
	if err != nil {
		t.Fatal(err)
	}
	var inStore []entry
	natstest.Eventually(t, "the store has all that it has acknowledged", patience, func() (bool, string) { // it is read from any server
		inStore = stored(t, b.js.Conn())
		return len(inStore) >= acknowledged, fmt.Sprintf("%d of %d", len(inStore), acknowledged)
	})
	for where, all := range map[string][]entry{"file": inFile, "store": inStore} {
		if n := stale(all); n > 0 {
			t.Errorf("%d stale entries among %d in the %s", n, len(all), where)
		}
	}
	return fmt.Sprintf("%d entries in the file and %d in the store, of %d terms", len(inFile), len(inStore), terms)
}

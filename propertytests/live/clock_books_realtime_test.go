//go:build realtime

package live_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// books are what leaders write into while clocks step and servers are lost: a file that compares
// epochs, and a store on the same servers. Only its epoch keeps a deposed leader out: the books are
// reached along a path that stays whole when the path of its session is cut.
type books struct {
	js       jetstream.JetStream // to read them, and for leaders that bring no path
	dir      string
	name     string // of the store
	replicas int

	mu      sync.Mutex
	terms   map[uint64]*bookkeeper
	refused map[string]int // writes, by who refused them
	faults  map[string]int // other errors of the store; a failed test shows them
}

// bookkeeper is one term's way to write, and the numbers of the entries that both have taken.
type bookkeeper struct {
	holder string
	store  *fencing.Store
	taken  []int
}

func openBooks(t *testing.T, c elections.Network, name string) *books {
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
	b := &books{
		js: js, dir: t.TempDir(), name: name, replicas: elections.Replicas(c), terms: map[uint64]*bookkeeper{},
		refused: map[string]int{}, faults: map[string]int{},
	}
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for text, n := range b.faults {
			if t.Failed() {
				t.Logf("store %s, %d times: %s", b.name, n, text)
			}
		}
	})
	return b
}

// keep is the work of a leader: an entry into the file and one into the store, again and again.
func (b *books) keep(ctx context.Context, t *election.Term) error { return b.keepOver(ctx, t, b.js) }

// keepOver is keep along a path of the leader's own.
func (b *books) keepOver(ctx context.Context, t *election.Term, js jetstream.JetStream) error {
	store, err := b.open(ctx, js, t.Token())
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
		e := ledgerEntry{t.Epoch(), n, k.holder}
		if err := file.add(e); err != nil {
			b.refusedBy("file", err)
			return err
		}
		if _, err := store.Put(ctx, fmt.Sprintf("%d.%d", e.epoch, n), []byte(e.String())); err == nil {
			b.mu.Lock()
			k.taken = append(k.taken, n)
			b.terms[e.epoch] = k
			b.mu.Unlock()
		} else if b.refusedBy("store", err) { // what was not written otherwise, or may have been, leaves the term as it is
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-pace.C:
		}
	}
}

// open opens the store for a term. While its stream has no leader that is tried again.
func (b *books) open(ctx context.Context, js jetstream.JetStream, token fencing.Token) (*fencing.Store, error) {
	pace := time.NewTicker(steppedTTL / 10)
	defer pace.Stop()
	for {
		store, err := fencing.OpenStore(ctx, js, b.name, token, fencing.WithCreate(b.replicas))
		if err == nil || b.refusedBy("store", err) {
			return store, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-pace.C:
		}
	}
}

// refusedBy counts a write that was refused for a later epoch, and reports whether this one was.
func (b *books) refusedBy(who string, err error) bool {
	is := errors.Is(err, errOldEpoch) || errors.Is(err, fencing.ErrStale)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case is:
		b.refused[who]++
	case err != nil && len(b.faults) < 50:
		b.faults[err.Error()]++
	}
	return is
}

// writer waits for a leader of a later epoch that has written, and returns it.
func (b *books) writer(a *elections.Arena, after uint64) (p *elections.Process, epoch uint64) {
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

// entries is how many entries of an epoch both have taken.
func (b *books) entries(epoch uint64) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.terms[epoch]; k != nil {
		return len(k.taken)
	}
	return 0
}

// refuse has a deposed leader write into both, when a later one has done so.
func (b *books) refuse(t *testing.T, epoch uint64) {
	t.Helper()
	b.refuseInFile(t, epoch)
	// while the stream has no leader it cannot
	natstest.Eventually(t, "the store refuses what is late", patience, func() (bool, string) {
		err := b.late(t, epoch)
		return b.refusedBy("store", err), err.Error()
	})
}

// refuseInFile is refuse for the file, which everybody reaches at any time.
func (b *books) refuseInFile(t *testing.T, epoch uint64) {
	t.Helper()
	file, err := openFenced(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer file.file.Close()
	if err := file.add(ledgerEntry{epoch, -1, b.of(epoch).holder}); !b.refusedBy("file", err) {
		t.Errorf("the file took a write of epoch %d after a later one: %v", epoch, err)
	}
}

// late has a deposed leader write into the store along the path that it had, when a later one has
// written. It returns why that was not taken; one that is taken ends the test.
func (b *books) late(t *testing.T, epoch uint64) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), steppedTTL)
	defer cancel()
	k := b.of(epoch)
	_, err := k.store.Put(ctx, "late", []byte(ledgerEntry{epoch, -1, k.holder}.String()))
	if err == nil {
		t.Fatalf("the store took a write of epoch %d after a later one", epoch)
	}
	return err
}

// count says what both have taken, and what they have refused.
func (b *books) count(all *counts) {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken := 0
	for _, k := range b.terms {
		taken += len(k.taken)
	}
	all.add(taken, "writes taken by the file and the store")
	all.add(b.refused["file"], "stale writes refused by the file")
	all.add(b.refused["store"], "stale writes refused by the store")
}

// check reads both, and says how much they have taken: nothing stale, and all that was
// acknowledged.
func (b *books) check(t *testing.T) string {
	t.Helper()
	b.mu.Lock()
	terms := len(b.terms)
	var acknowledged []ledgerEntry
	for epoch, k := range b.terms {
		for _, n := range k.taken {
			acknowledged = append(acknowledged, ledgerEntry{epoch, n, k.holder})
		}
	}
	b.mu.Unlock()
	inFile, err := readLedger(filepath.Join(b.dir, fencedFile))
	if err != nil {
		t.Fatal(err)
	}
	var inStore []ledgerEntry
	// it is read from any server
	natstest.Eventually(t, "the store has all that it has acknowledged", patience, func() (bool, string) {
		var err error
		if inStore, err = stored(t, b.js.Conn(), b.name); err != nil {
			return false, err.Error() // the stream has no leader
		}
		has := make(map[ledgerEntry]bool, len(inStore))
		for _, e := range inStore {
			has[e] = true
		}
		lacks := slices.DeleteFunc(slices.Clone(acknowledged), func(e ledgerEntry) bool { return has[e] })
		return len(lacks) == 0, fmt.Sprintf("%d of %d are not there, among them %v", len(lacks), len(acknowledged),
			lacks[:min(5, len(lacks))])
	})
	for where, all := range map[string][]ledgerEntry{"file": inFile, "store": inStore} {
		if n := stale(all); n > 0 {
			t.Errorf("%d stale entries among %d in the %s", n, len(all), where)
		}
	}
	return fmt.Sprintf("%d entries in the file and %d in the store, of %d terms", len(inFile), len(inStore), terms)
}

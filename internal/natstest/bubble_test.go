package natstest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

func TestMain(m *testing.M) {
	if os.Getenv(inHalves) != "" {
		halves(m)
	}
	natstest.Main(m)
}

// soakHours is the virtual length of TestSoak; NATSTEST_HOURS sets another.
func soakHours(t *testing.T) time.Duration {
	hours := thorough.Pick(0.5, 1.0)
	if v := os.Getenv("NATSTEST_HOURS"); v != "" {
		var err error
		if hours, err = strconv.ParseFloat(v, 64); err != nil {
			t.Fatalf("NATSTEST_HOURS: %v", err)
		}
	}
	return time.Duration(hours * float64(time.Hour))
}

// TestSoak: three clients race for one key by compare-and-swap and watch it, for hours of virtual
// time. Their links have every fault, and the server restarts.
func TestSoak(t *testing.T) {
	for _, storage := range []jetstream.StorageType{jetstream.MemoryStorage, jetstream.FileStorage} {
		t.Run(storage.String(), func(t *testing.T) {
			length := soakHours(t)
			began := time.Now()
			natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
				k := newSoak(t, s, storage)
				k.run(length)
				k.report(length)
			})
			t.Logf("%v of virtual time took %v", length, time.Since(began).Round(time.Millisecond))
		})
	}
}

// soak is one run: its clients, and the events of the run.
type soak struct {
	t       *testing.T
	s       *natsrun.Server
	rng     *rand.Rand
	storage jetstream.StorageType
	clients []*racer
	links   []*natsrun.Link
	faults  map[string]int

	mu      sync.Mutex
	winners map[string]string // incarnation of the stream and revision → client
}

const soakBucket = "soak"

func newSoak(t *testing.T, s *natsrun.Server, storage jetstream.StorageType) *soak {
	seed := uint64(1)
	if v, err := strconv.ParseUint(os.Getenv("NATSTEST_SEED"), 10, 64); err == nil {
		seed = v
	}
	k := &soak{
		t: t, s: s, storage: storage, rng: rand.New(rand.NewPCG(seed, 0)),
		faults: map[string]int{}, winners: map[string]string{},
	}
	k.makeBucket()
	for i := range 3 {
		link := s.Link()
		nc := natstest.Connect(t, s, append(link.Options(),
			nats.PingInterval(2*time.Second), nats.MaxPingsOutstanding(2), nats.MaxReconnects(-1),
			nats.ReconnectWait(100*time.Millisecond), nats.ReconnectBufSize(-1),
			nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), nats.Name(fmt.Sprint("racer", i)))...)
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		k.links = append(k.links, link)
		k.clients = append(k.clients, &racer{name: fmt.Sprint("racer", i), k: k, nc: nc, js: js})
	}
	return k
}

func (k *soak) makeBucket() {
	nc, err := k.s.Connect()
	if err != nil {
		k.t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		k.t.Fatal(err)
	}
	if _, err := js.CreateOrUpdateKeyValue(k.t.Context(), jetstream.KeyValueConfig{
		Bucket:  soakBucket,
		Storage: k.storage,
	}); err != nil {
		k.t.Fatal(err)
	}
}

// run lets the clients race while faults come and go, heals everything, and checks that all see the
// same end.
func (k *soak) run(length time.Duration) {
	ctx, stop := context.WithCancel(k.t.Context())
	var racing sync.WaitGroup
	for _, c := range k.clients {
		racing.Go(func() { c.watch(ctx) })
		racing.Go(func() { c.race(ctx) })
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
		time.Sleep(time.Duration(1+k.rng.IntN(20)) * time.Second)
		k.inject()
	}
	for _, link := range k.links {
		link.Heal()
	}
	natstest.Eventually(k.t, "every client wins and sees again", 2*time.Minute, func() (bool, string) {
		seen := ""
		ok := true
		for _, c := range k.clients {
			seen += fmt.Sprintf("%s connected %t, saw %d; ", c.name, c.nc.IsConnected(), c.seen.Load())
			ok = ok && c.nc.IsConnected() && c.seen.Load() == k.clients[0].seen.Load() && c.seen.Load() != 0
		}
		return ok, seen
	})
	stop()
	racing.Wait()
}

// inject puts one fault somewhere for a while.
func (k *soak) inject() {
	i := k.rng.IntN(len(k.links))
	link := k.links[i]
	dir := natsrun.Direction(1 + k.rng.IntN(3))
	name := []string{"cut", "cut one way", "hold", "delay", "reset", "refuse", "restart"}[k.rng.IntN(7)]
	if name == "restart" && k.rng.IntN(8) != 0 {
		name = "reset"
	}
	k.faults[name]++
	switch name {
	case "cut":
		link.Cut()
	case "cut one way":
		link.CutOneWay(dir)
	case "hold":
		link.Hold(dir)
	case "delay":
		link.DelayDir(dir, time.Duration(k.rng.IntN(2000))*time.Millisecond)
	case "reset":
		link.Reset()
	case "refuse":
		link.Refuse(true)
		link.Reset()
	case "restart":
		if err := k.s.Restart(); err != nil {
			k.t.Fatal(err)
		}
		if k.storage == jetstream.MemoryStorage {
			k.makeBucket()
		}
	}
	time.Sleep(time.Duration(k.rng.IntN(15000)) * time.Millisecond)
	link.Heal()
}

func (k *soak) report(length time.Duration) {
	won, refused, unknown, seen, reconnects := 0, 0, 0, 0, uint64(0)
	var dropped int64
	for i, c := range k.clients {
		won, refused, unknown, seen = won+c.won, refused+c.refused, unknown+c.unknown, seen+c.events
		reconnects += c.nc.Stats().Reconnects
		st := k.links[i].Stats()
		dropped += st.Dropped
	}
	k.t.Logf("%v: faults %v; writes won %d, refused %d, unknown %d; watch events %d; reconnects %d; bytes dropped %d",
		length, k.faults, won, refused, unknown, seen, reconnects, dropped)
	if won == 0 || refused == 0 || unknown == 0 || reconnects == 0 || dropped == 0 {
		k.t.Error("a run without wins, refusals, unknown outcomes, reconnects and losses proves nothing")
	}
}

// racer is a client that writes the shared key at the revision that it has seen.
type racer struct {
	name string
	k    *soak
	nc   *nats.Conn
	js   jetstream.JetStream

	seen                  atomic.Uint64 // last revision on the watch
	events                int
	won, refused, unknown int
}

func (c *racer) race(ctx context.Context) {
	rng := rand.New(rand.NewPCG(7, uint64(len(c.name))+uint64(c.name[len(c.name)-1])))
	for ctx.Err() == nil {
		sleep(ctx, time.Duration(500+rng.IntN(1000))*time.Millisecond)
		last := c.seen.Load()
		attempt, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		ack, err := c.js.Publish(attempt, "$KV."+soakBucket+".key", []byte(c.name),
			jetstream.WithExpectLastSequencePerSubject(last))
		cancel()
		var refused *jetstream.APIError
		switch {
		case err == nil:
			c.won++
			c.k.wonBy(c.name, last, ack.Sequence)
		case errors.As(err, &refused):
			c.refused++
		default:
			c.unknown++
		}
	}
}

// wonBy checks that no two writes got the same revision from the server's present store. A memory
// stream starts again with each server, so only file storage can be checked.
func (k *soak) wonBy(name string, on, revision uint64) {
	if k.storage != jetstream.FileStorage {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := fmt.Sprint(revision)
	if other, ok := k.winners[key]; ok {
		k.t.Errorf("revision %d was won by %s and by %s", revision, other, name)
	}
	k.winners[key] = name
	if revision <= on {
		k.t.Errorf("%s wrote on revision %d and got %d", name, on, revision)
	}
}

// watch keeps a watch on the bucket. It makes a new one when the connection was lost or nothing
// came for a while.
func (c *racer) watch(ctx context.Context) {
	for ctx.Err() == nil {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		kv, err := c.js.KeyValue(attempt, soakBucket)
		cancel()
		if err != nil {
			sleep(ctx, 500*time.Millisecond)
			continue
		}
		life, end := context.WithCancel(ctx)
		w, err := kv.WatchAll(life)
		if err != nil {
			end()
			sleep(ctx, 500*time.Millisecond)
			continue
		}
		c.follow(ctx, w)
		_ = w.Stop() // fails when the connection is gone; the server forgets the consumer by itself
		end()
	}
}

func (c *racer) follow(ctx context.Context, w jetstream.KeyWatcher) {
	last := uint64(0)
	quiet := time.NewTimer(0)
	defer quiet.Stop()
	for {
		quiet.Reset(5 * time.Second)
		select {
		case e, ok := <-w.Updates():
			if !ok {
				return
			}
			if e == nil {
				if last == 0 { // the snapshot is complete and empty: a memory stream of a new server
					c.seen.Store(0)
				}
				continue
			}
			c.events++
			if e.Revision() <= last && c.k.storage == jetstream.FileStorage {
				c.k.t.Errorf("%s: watch went from revision %d to %d", c.name, last, e.Revision())
			}
			last = e.Revision()
			c.seen.Store(last)
		case <-quiet.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// TestBubbleTwice: pooled objects of the first bubble do not disturb the second.
func TestBubbleTwice(t *testing.T) {
	for range 2 {
		natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
			nc := natstest.Connect(t, s)
			if _, err := nc.Request("nobody", nil, time.Second); !errors.Is(err, nats.ErrNoResponders) {
				t.Fatalf("request: %v", err)
			}
			began := time.Now()
			time.Sleep(time.Hour)
			if got := time.Since(began); got < time.Hour {
				t.Fatalf("an hour took %v", got)
			}
			if !nc.IsConnected() {
				t.Fatalf("not connected after an idle hour: %v", nc.LastError())
			}
		})
	}
}

package live_test

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/propertytests/live/elections"
)

// TestGCOrCPUPressure runs in real time: while every processor is kept busy, the garbage collector
// runs without a pause, and links are held now and then, no two lead at once; and when it is over
// the role is led.
func TestGCOrCPUPressure(t *testing.T) {
	thorough.Only(t, "it keeps all processors busy for seconds")
	a := elections.New(t, natstest.Server(t), jetstream.MemoryStorage)
	for _, name := range []string{"a", "b", "c"} {
		a.Join(plan(name, func(p *elections.Plan) { p.Session = election.SessionConfig{TTL: 600 * time.Millisecond} }))
	}
	a.AwaitLeader(role, patience)
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		load.Go(func() { burn(ctx) })
	}
	load.Go(func() {
		for ctx.Err() == nil {
			runtime.GC()
		}
	})
	rounds := thorough.Pick(2, 3)
	for range rounds {
		leader := a.AwaitLeader(role, patience)
		leader.Link.Cut()
		a.Await("another leads", role, patience, func() bool { l := a.Leader(role); return l != nil && l != leader })
		leader.Link.Heal()
	}
	stop()
	load.Wait()
	a.AwaitLeader(role, patience)
	terms, samples := a.Ledger.Terms()
	t.Logf("%d terms, %d samples, %d sessions lost", terms, samples, a.Tally.Count("SessionLost"))
	if terms < 3 || samples == 0 {
		t.Errorf("%d terms in %d samples prove nothing", terms, samples)
	}
	a.Check()
}

// burn allocates and computes until ctx ends.
func burn(ctx context.Context) {
	var kept [][]byte
	for n := 0; ctx.Err() == nil; n++ {
		kept = append(kept, make([]byte, 4096))
		if len(kept) == 1000 {
			kept = kept[:0]
		}
	}
	runtime.KeepAlive(kept)
}

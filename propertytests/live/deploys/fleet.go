package deploys

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/propertytests/live/storm"
)

// fleet is a server, the processes of one or two builds, and what they write down.
type fleet struct {
	fleetNotes
	t      testing.TB
	server *natsrun.Server
	rng    *rand.Rand

	processes sync.WaitGroup
	present   []*oneStart
	joined    int
	clients   map[build]*assign.Client
	conns     []*nats.Conn

	submitted int
	waiting   sync.WaitGroup // for the ends of tasks
}

const (
	recurrence = "minutely"
	step       = time.Minute
)

func isTick(id string) bool { return strings.HasPrefix(id, "cron/"+recurrence+"/") }

func newFleet(t testing.TB, s *natsrun.Server, seed uint64) *fleet {
	return &fleet{
		fleetNotes: fleetNotes{done: map[string]time.Time{}, counts: map[string]int{}},
		t:          t, server: s, rng: rand.New(rand.NewPCG(seed, 0xde9101)), clients: map[build]*assign.Client{},
	}
}

// play has a build rolled out at the beginning of every hour, and tasks submitted all the time.
func (w *fleet) play(hours int) {
	defer w.close()
	for i := range 6 {
		w.start(1, i%2 == 1)
	}
	for b := build(1); b <= build(hours) && !w.t.Failed(); b++ {
		end := time.Now().Add(time.Hour)
		if b > 1 {
			w.rollOut(b)
		}
		w.define(b)
		w.group(b)
		w.submitUntil(time.Now().Add(5*time.Minute), b, b) // what runs of the former limit ends
		w.peaked()
		w.submitUntil(end, b, b)
		if most := w.peaked(); most > b.concurrency() {
			w.t.Errorf("build %d: %d tasks ran at once, of a kind with a limit of %d", b, most, b.concurrency())
		} else if most == b.concurrency() {
			w.count("at the limit")
		}
		w.forget()
	}
	w.waiting.Wait()
	w.checkTicks()
}

// rollOut replaces each process by one of another build. The last one stays until what its build
// has submitted is over: it alone can decode some of that.
func (w *fleet) rollOut(to build) {
	for i, old := range w.present {
		w.present[i] = w.start(to, old.worker)
		w.submitUntil(time.Now().Add(w.upTo(time.Minute)), to-1, to)
		switch last := i == len(w.present)-1; {
		case last:
			w.submitUntil(time.Now().Add(5*time.Minute), to, to)
			old.stop()
		case w.rng.IntN(15) == 0:
			w.count("crashes")
			old.link.Cut()
			defer old.stop()
		default:
			old.stop()
		}
		if i < len(w.present)-1 {
			w.submitUntil(time.Now().Add(w.upTo(time.Minute)), to-1, to)
		}
	}
	w.count("deploys")
}

// start starts a process, and counts it among those present if it is one of the first.
func (w *fleet) start(of build, worker bool) *oneStart {
	p, err := w.join(of, worker)
	if err != nil {
		w.t.Fatal(err)
	}
	if len(w.present) < 6 {
		w.present = append(w.present, p)
	}
	return p
}

// client submits as a program of a build does.
func (w *fleet) client(of build) *assign.Client {
	if c := w.clients[of]; c != nil {
		return c
	}
	nc, err := w.server.Connect(storm.Unbroken(fmt.Sprint("client of ", int(of)), ttl)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.conns = append(w.conns, nc)
	ring, err := of.ring()
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{
		Namespace: namespace, StreamAutoCreate: true, Storage: jetstream.MemoryStorage, Codec: ring,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	w.clients[of] = c
	return c
}

// define defines the recurrence as a build does.
func (w *fleet) define(b build) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	err := assign.Recur(ctx, w.client(b), stable, recurrence, fmt.Sprint("@every ", step), order{Run: time.Second},
		assign.CatchUp(assign.CatchUpAll), assign.RecurVersion(int(b)))
	if err != nil {
		w.t.Errorf("build %d: %v", b, err)
	}
}

func (w *fleet) upTo(d time.Duration) time.Duration { return time.Duration(1 + w.rng.Int64N(int64(d))) }

// close ends all that was started.
func (w *fleet) close() {
	w.waiting.Wait()
	for _, p := range w.present {
		p.stop()
	}
	w.processes.Wait()
	for _, c := range w.clients {
		c.Close()
	}
	for _, nc := range w.conns {
		nc.Close()
	}
}

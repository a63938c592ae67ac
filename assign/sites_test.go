package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// sites is a hub and two leaf nodes with JetStream, each with a domain of its own; a leaf node
// without JetStream; and one whose default domain is the hub's.
func sites(t *testing.T) (h *natsrun.Hub, places map[string]*natsrun.Server) {
	t.Helper()
	h = natstest.Hub(t, natsrun.HubOptions{Domain: "hub", Leaves: []natsrun.LeafOptions{
		{Name: "east"},
		{Name: "west"},
		{Name: "relay", NoJetStream: true},
		{Name: "led", NoJetStream: true, DefaultDomain: "hub"},
	}})
	return h, map[string]*natsrun.Server{
		"hub": h.Server, "east": h.Leaf(0).Server, "west": h.Leaf(1).Server, "relay": h.Leaf(2).Server,
		"led": h.Leaf(3).Server,
	}
}

// executions counts how often each task ran, and where.
type executions struct {
	mu  sync.Mutex
	ran map[string][]string // by task: domains
}

func (x *executions) handler(domain string) func(context.Context, *assign.Task[int]) ([]byte, error) {
	return func(_ context.Context, task *assign.Task[int]) ([]byte, error) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.ran[task.ID()] = append(x.ran[task.ID()], domain)
		out := pattern(task.Input)
		copy(out, domain)
		return out, nil
	}
}

func (x *executions) of(id string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return strings.Join(x.ran[id], " ")
}

// inDomain is a node that uses a domain. Its lease is so long that a busy machine does not outlast
// it: nobody waits for its end.
func inDomain(domain string) nodeOption {
	return func(s *election.SessionConfig, _ *assign.Config, _ *bool) { s.Domain, s.TTL = domain, 30*time.Second }
}

// clientIn is a client at a place, for a domain.
func clientIn(t *testing.T, at *natsrun.Server, domain string) *assign.Client {
	t.Helper()
	c, err := assign.NewClient(natstest.Connect(t, at), assign.ClientConfig{Namespace: testNS, Domain: domain})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// schedules waits until a scheduler answers: one that leads has yet to create its stream.
func schedules(t *testing.T, c *assign.Client) {
	t.Helper()
	natstest.Eventually(t, "a scheduler answers", time.Minute, func() (bool, string) {
		_, err := assign.GetOverview(within(t, time.Minute), c)
		return err == nil, fmt.Sprint(err)
	})
}

// TestEachSubmissionRunsOnceInItsDomain: three connected sites have a namespace, a bucket and
// instances of the same names. Wherever a task is submitted, it is stored in the domain that is
// named, runs there and nowhere else, and once. Large outputs come from there too.
func TestEachSubmissionRunsOnceInItsDomain(t *testing.T) {
	t.Parallel() // it waits for servers most of the time
	_, places := sites(t)
	x := &executions{ran: map[string][]string{}}
	domains, epochs := []string{"hub", "east", "west"}, map[string]uint64{}
	for _, domain := range domains {
		n := newNode(t, places[domain], "a", func(a *assign.Assigner) {
			if err := assign.Handle(a, sized, x.handler(domain)); err != nil {
				t.Error(err)
			}
		}, inDomain(domain))
		epochs[domain] = leader(t, n).e.Token().Epoch
		schedules(t, clientIn(t, places[domain], domain))
	}
	total := 0
	for place, server := range places {
		for _, domain := range append([]string{""}, domains...) {
			want := domain
			if domain == "" {
				if want = place; place == "led" {
					want = "hub"
				}
				if place == "relay" { // nothing answers there without a domain
					continue
				}
			}
			c := clientIn(t, server, domain)
			for i, size := range []int{16, 16, 200 << 10} {
				id := assign.WithID(fmt.Sprint(place, ".", domain, "_", i))
				p, err := assign.Submit(within(t, time.Minute), c, sized, size, id)
				if err != nil {
					t.Fatalf("%s → %q: %v", place, domain, err)
				}
				total++
				out, err := p.Wait(within(t, time.Minute))
				if err != nil || len(out) != size || !strings.HasPrefix(string(out), want) {
					t.Errorf("%s → %q: %d bytes, %.5q, %v", place, domain, len(out), out, err)
				}
				if got := x.of(p.ID()); got != want {
					t.Errorf("%s → %q: ran in %q, want once in %s", place, domain, got, want)
				}
			}
			if o, err := assign.GetOverview(within(t, time.Minute), c); err != nil || o.Epoch != epochs[want] {
				t.Errorf("%s → %q: overview of epoch %d, want %d, %v", place, domain, o.Epoch, epochs[want], err)
			}
			if _, err := assign.List(within(t, time.Minute), c, assign.ListOptions{Limit: 1}); err != nil {
				t.Errorf("%s → %q: list: %v", place, domain, err)
			}
		}
	}
	time.Sleep(time.Second) // for whatever runs twice
	for id := range x.ran {
		if got := x.of(id); strings.Contains(got, " ") {
			t.Errorf("%s ran in %s", id, got)
		}
	}
	if len(x.ran) != total {
		t.Errorf("%d tasks ran, of %d", len(x.ran), total)
	}
}

// TestSubmissionsOverACutUplink: the submitter's site is cut off from the hub again and again, in
// the middle of its submissions. Each task runs once, and its outcome arrives.
func TestSubmissionsOverACutUplink(t *testing.T) {
	thorough.Only(t, "it waits for connections")
	t.Parallel() // it waits for servers most of the time
	h, places := sites(t)
	x := &executions{ran: map[string][]string{}}
	leader(t, newNode(t, h.Server, "a", func(a *assign.Assigner) {
		if err := assign.Handle(a, sized, x.handler("hub")); err != nil {
			t.Error(err)
		}
	}, inDomain("hub")))
	newNode(t, places["west"], "w", nil, inDomain("west")) // a namesake that must not take part
	c := clientIn(t, places["west"], "hub")
	schedules(t, c)
	const cycles, each = 3, 10
	for cycle := range cycles {
		var all sync.WaitGroup
		for i := range each {
			all.Go(func() {
				ctx := within(t, time.Minute)
				id := fmt.Sprint("task-", cycle, "-", i)
				p, err := assign.Submit(ctx, c, sized, 16, assign.WithID(id))
				if err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				if out, err := p.Wait(ctx); err != nil || !strings.HasPrefix(string(out), "hub") {
					t.Errorf("%s: %q, %v", id, out, err)
				}
				if got := x.of(id); got != "hub" {
					t.Errorf("%s ran in %q", id, got)
				}
			})
			if i == cycle%each {
				h.Leaf(1).Uplink.Cut()
			}
		}
		time.Sleep(time.Duration(cycle) * 100 * time.Millisecond) // the length of the cut
		h.Leaf(1).Uplink.Heal()
		all.Wait()
		natstest.Linked(t, h)
	}
}

// TestWithoutADomainNoStreamIsCreated: where a domain answers that nobody has named, each site
// would make a stream of its own. The error has both ways out, and each of them works.
func TestWithoutADomainNoStreamIsCreated(t *testing.T) {
	t.Parallel() // it waits for servers most of the time
	_, places := sites(t)
	nc := natstest.Connect(t, places["east"])
	refused := func(cfg assign.ClientConfig) error {
		t.Helper()
		c, err := assign.NewClient(nc, cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = assign.Submit(within(t, time.Minute), c, sized, 1)
		return err
	}
	cfg := assign.ClientConfig{Namespace: testNS, StreamAutoCreate: true}
	err := refused(cfg)
	if !errors.Is(err, assign.ErrNoDomain) || !natskv.Permanent(err) {
		t.Errorf("%v, want %v", err, assign.ErrNoDomain)
	}
	if _, objects := assign.CreateObjects(t.Context(), nc, cfg); !errors.Is(objects, assign.ErrNoDomain) {
		t.Errorf("the object store: %v", objects)
	}
	for _, way := range []string{"Set Domain", "rolectl tasks create " + testNS + " --js-domain east"} {
		if !strings.Contains(err.Error(), way) {
			t.Errorf("%q does not say %q", err, way)
		}
	}
	cfg.StreamAutoCreate = false
	if err := refused(cfg); !errors.Is(err, assign.ErrStreamNotFound) || !strings.Contains(err.Error(), `domain "east"`) {
		t.Errorf("without creating: %v", err)
	}
	cfg.StreamAutoCreate, cfg.Domain = true, "hub"
	if err := refused(cfg); err != nil {
		t.Errorf("with the domain: %v", err)
	}
	if _, err := assign.NewClient(nc, assign.ClientConfig{Namespace: testNS, Domain: "a", APIPrefix: "b"}); err == nil {
		t.Error("a domain and a prefix are taken together")
	}
}

// TestAnotherStreamIsRefused: the stream is deleted and recreated, or StreamID names another one.
// A client says so, for everything that it is asked, and the next client works.
func TestAnotherStreamIsRefused(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		c := New(t, s)
		p, err := assign.Submit(t.Context(), c, sized, 1, assign.WithID("lost"))
		if err != nil {
			t.Fatal(err)
		}
		js := natstest.JetStream(t, s)
		if err := js.DeleteStream(t.Context(), taskStream); err != nil {
			t.Fatal(err)
		}
		waits := make(chan error, 1)
		go func() {
			_, err := p.Wait(t.Context())
			waits <- err
		}()
		next := New(t, s)
		if _, err := assign.Submit(t.Context(), next, sized, 1); err != nil {
			t.Fatal(err)
		}
		stream, err := js.Stream(t.Context(), taskStream)
		if err != nil {
			t.Fatal(err)
		}
		id := stream.CachedInfo().Config.Metadata["rolemanager.id"]
		for pinned, want := range map[string]error{id: assign.ErrTaskNotFound, "x": assign.ErrOtherStream} {
			c, err := assign.NewClient(natstest.Connect(t, s), assign.ClientConfig{Namespace: testNS, StreamID: pinned})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := assign.Get(t.Context(), c, "lost"); !errors.Is(err, want) {
				t.Errorf("pinned to %s: %v, want %v", pinned, err, want)
			}
			c.Close()
		}
		if err := <-waits; !errors.Is(err, assign.ErrOtherStream) && !errors.Is(err, assign.ErrTaskNotFound) {
			t.Errorf("a call that waits: %v", err)
		}
		if _, err := assign.GetOverview(t.Context(), c); !errors.Is(err, assign.ErrOtherStream) {
			t.Errorf("an overview: %v", err)
		}
		if _, err := assign.Submit(t.Context(), c, sized, 1); !errors.Is(err, assign.ErrOtherStream) {
			t.Errorf("the next submission: %v", err)
		}
	})
}

// TestAStreamOfAnEarlierVersionIsRefused: at once, with the commands that replace it, and these do.
func TestAStreamOfAnEarlierVersionIsRefused(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		js := natstest.JetStream(t, s)
		if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
			Name: taskStream, Subjects: []string{testNS + ".q.>", testNS + ".seal"},
			Metadata: map[string]string{"rolemanager.tasks.format": "1"},
		}); err != nil {
			t.Fatal(err)
		}
		_, err := assign.Submit(t.Context(), New(t, s), sized, 1)
		if !errors.Is(err, assign.ErrOldFormat) || !natskv.Permanent(err) {
			t.Errorf("%v, want %v", err, assign.ErrOldFormat)
		}
		for _, command := range []string{"nats stream rm " + taskStream, "rolectl tasks create " + testNS} {
			if err == nil || !strings.Contains(err.Error(), command) {
				t.Errorf("%v does not name %q", err, command)
			}
		}
		if err := js.DeleteStream(t.Context(), taskStream); err != nil {
			t.Fatal(err)
		}
		if _, err := assign.Submit(t.Context(), New(t, s), sized, 1); err != nil {
			t.Error(err)
		}
	})
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

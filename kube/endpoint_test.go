package kube

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

func pod(s *apiServer, i int) *LeaderEndpoint {
	return &LeaderEndpoint{
		Service: "leader", Ports: []Port{{Name: "http", Port: 8080}}, Address: fmt.Sprint("10.0.0.", i+1),
		Pod: fmt.Sprint("pod-", i), Client: s.client(), OnError: func(error) {},
	}
}

// names is whom the slice leads to, "" for nobody.
func (s slice) names() string {
	if len(s.Endpoints) == 0 {
		return ""
	}
	return s.Endpoints[0].Addresses[0]
}

// TestHandOver: two processes on a real NATS server contend for the role. The slice names the
// leader, is empty before the role is given away, and then names the next one.
func TestHandOver(t *testing.T) {
	nats := natstest.Server(t, natstest.Listen)
	api := newAPIServer(t)
	var begun [2]atomic.Int64
	run := func(i int) (stop func()) {
		e := pod(api, i)
		m, err := roles.New(roles.Config{URL: nats.URL(), Bucket: "roles", BucketAutoCreate: true, TTL: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		e.Session = m.Session()
		err = m.Add(roles.Role{Name: "scheduler", Lead: e.Lead(func(ctx context.Context, _ *election.Term) error {
			if i == 1 {
				if found, _ := api.slice("leader"); found.names() == "10.0.0.1" {
					t.Error("the role was given away while the slice named the former leader")
				}
			}
			begun[i].Store(time.Now().UnixNano())
			<-ctx.Done()
			return nil
		})})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- m.Run(ctx) }()
		return func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	is := func(address string) {
		t.Helper()
		natstest.Eventually(t, "the slice names "+address, 20*time.Second, func() (bool, string) {
			found, ok := api.slice("leader")
			return ok && found.names() == address, fmt.Sprint(found)
		})
	}
	stopFirst := run(0)
	is("10.0.0.1")
	stopSecond := run(1)
	stopFirst()
	is("10.0.0.2")
	t.Logf("the slice names the next leader %v after its work has begun, at the latest",
		time.Since(time.Unix(0, begun[1].Load())))
	stopSecond()
	is("")
	found, _ := api.slice("leader")
	if c := claimOf(found); c.bucket == "" || c.epoch == 0 || c.role != "scheduler" || c.ttl != time.Second {
		t.Errorf("the annotations say %+v", c)
	}
}

// TestNeverOlder: leaders of drawn terms overlap. Their requests are held up or lost, and so are
// the answers. No write that the API server accepts has an older epoch, or two addresses, and in
// the end the last leader is named.
func TestNeverOlder(t *testing.T) {
	var unanswered atomic.Int32 // writes
	for seed := range uint64(20) {
		api := newAPIServer(t)
		var mu sync.Mutex
		draw, network := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
		var calm atomic.Bool
		api.fate = func(r *http.Request) fate {
			mu.Lock()
			n := network.IntN(20)
			mu.Unlock()
			switch {
			case calm.Load():
				return arrives
			case n < 8:
				time.Sleep(time.Duration(n) * time.Millisecond)
			case n < 10:
				return requestLost
			case n < 13:
				if r.Method != http.MethodGet {
					unanswered.Add(1)
				}
				return answerLost
			}
			return arrives
		}
		var all sync.WaitGroup
		var ends []func(error)
		for i := range 6 {
			ctx, term, end := electiontest.NewTerm(t, "scheduler")
			e := pod(api, i)
			e.Every = time.Millisecond
			e.bucket = func() (string, time.Duration) { return "one", time.Second }
			lead := e.Lead(func(ctx context.Context, _ *election.Term) error {
				<-ctx.Done()
				return nil
			})
			all.Go(func() { _ = lead(ctx, term) })
			ends = append(ends, end)
			if i > 1 && draw.IntN(2) == 0 {
				ends[draw.IntN(i)](election.ErrSteppedDown)
			}
			time.Sleep(time.Duration(draw.IntN(8)) * time.Millisecond)
		}
		calm.Store(true)
		for _, end := range ends[:5] {
			end(election.ErrSessionLost)
		}
		natstest.Eventually(t, "the last leader is named", 20*time.Second, func() (bool, string) {
			found, _ := api.slice("leader")
			return found.names() == "10.0.0.6", fmt.Sprint("seed ", seed, ": ", found)
		})
		ends[5](election.ErrClosed)
		all.Wait()
		api.mu.Lock()
		writes := slices.Clone(api.writes)
		api.mu.Unlock()
		last := uint64(0)
		for _, s := range writes {
			if c := claimOf(s); c.epoch < last || len(s.Endpoints) > 1 {
				t.Fatalf("seed %d: epoch %d with %d addresses after %d", seed, c.epoch, len(s.Endpoints), last)
			} else {
				last = c.epoch
			}
		}
		if s := writes[len(writes)-1]; s.names() != "" {
			t.Errorf("seed %d: the slice names %s after the last term", seed, s.names())
		}
	}
	if unanswered.Load() == 0 {
		t.Error("no answer to a write was lost")
	}
}

// TestJudge: what a term may do to a slice that it finds.
func TestJudge(t *testing.T) {
	mine := claim{"scheduler", "one", 7, time.Second}
	for name, test := range map[string]struct {
		found   claim
		foreign bool
		wait    time.Duration
		err     error
	}{
		"an earlier term":           {found: claim{"scheduler", "one", 6, time.Second}},
		"its own":                   {found: mine},
		"a later term":              {found: claim{"scheduler", "one", 8, time.Second}, err: ErrStale},
		"another bucket, later":     {found: claim{"scheduler", "two", 800, 3 * time.Second}, wait: 3 * time.Second},
		"another bucket, short TTL": {found: claim{"scheduler", "two", 1, time.Millisecond}, wait: time.Second},
		"another role":              {found: claim{"metrics", "one", 1, time.Second}, err: ErrForeign},
		"of somebody else":          {found: mine, foreign: true, err: ErrForeign},
	} {
		var found slice
		found.Metadata.Labels = map[string]string{labelManagedBy: managedBy}
		if test.foreign {
			found.Metadata.Labels = nil
		}
		test.found.on(&found)
		if wait, err := mine.judge(found); wait != test.wait || !errors.Is(err, test.err) {
			t.Errorf("%s: %v, %v, want %v, %v", name, wait, err, test.wait, test.err)
		}
	}
}

// TestOtherBucket: a bucket that was recreated has lower epochs. Its leader replaces the slice once
// it has not changed for the longer TTL of both.
func TestOtherBucket(t *testing.T) {
	api := newAPIServer(t)
	k := keeper{client: api.client(), name: "leader"}
	e := pod(api, 0)
	e.bucket = func() (string, time.Duration) { return "new", 300 * time.Millisecond }
	if err := e.begin(); err != nil {
		t.Fatal(err)
	}
	ctx, term, end := electiontest.NewTerm(t, "scheduler")
	old := e.wanted(term)
	claim{"scheduler", "old", 1 << 40, 300 * time.Millisecond}.on(&old)
	old.Endpoints[0].Addresses[0] = "10.0.0.99"
	if err := k.store(ctx, http.MethodPost, k.client.slices(), old); err != nil {
		t.Fatal(err)
	}
	began, over := time.Now(), make(chan struct{})
	lead := e.Lead(func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		return nil
	})
	go func() {
		defer close(over)
		_ = lead(ctx, term)
	}()
	natstest.Eventually(t, "the slice is replaced", 20*time.Second, func() (bool, string) {
		found, _ := api.slice("leader")
		return found.names() == "10.0.0.1", fmt.Sprint(found)
	})
	if took := time.Since(began); took < 300*time.Millisecond {
		t.Errorf("replaced after %v, before the other leader must have ended", took)
	}
	end(election.ErrClosed)
	<-over
}

// TestConfiguration: each fault names its fix, and a process outside a cluster is told so.
func TestConfiguration(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	api := newAPIServer(t)
	for field, spoil := range map[string]func(*LeaderEndpoint){
		"Session": func(e *LeaderEndpoint) { e.bucket = nil },
		"Service": func(e *LeaderEndpoint) { e.Service = "" },
		"Ports":   func(e *LeaderEndpoint) { e.Ports = nil },
		"Address": func(e *LeaderEndpoint) { e.Address = "localhost" },
	} {
		e := pod(api, 0)
		e.bucket = func() (string, time.Duration) { return "one", time.Second }
		spoil(e)
		var fault *ConfigError
		if err := e.begin(); !errors.As(err, &fault) || fault.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	e := pod(api, 0)
	e.Client, e.bucket = nil, func() (string, time.Duration) { return "one", time.Second }
	if err := e.begin(); !errors.Is(err, ErrNotInCluster) {
		t.Errorf("outside a cluster: %v", err)
	}
}

// TestLeaderLabel: the pod has the label while it leads, and no longer.
func TestLeaderLabel(t *testing.T) {
	api := newAPIServer(t)
	ctx, term, end := electiontest.NewTerm(t, "scheduler")
	label := func() any {
		api.mu.Lock()
		defer api.mu.Unlock()
		return api.labels["rolemanager/scheduler"]
	}
	lead := LeaderLabel{Pod: "pod-0", Client: api.client()}.Lead(func(ctx context.Context, _ *election.Term) error {
		natstest.Eventually(t, "the pod is labelled", 20*time.Second, func() (bool, string) {
			return label() == "leader", fmt.Sprint(label())
		})
		end(election.ErrSteppedDown)
		<-ctx.Done()
		return nil
	})
	if err := lead(ctx, term); err != nil {
		t.Fatal(err)
	}
	if got := label(); got != nil {
		t.Errorf("the label is %v after the term", got)
	}
}

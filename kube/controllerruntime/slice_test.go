package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/kube"
	"github.com/rolemanager/rolemanager/roles"
)

// member is a process that takes part in the role of the leader Service, with links to NATS and to
// the API server.
type member struct {
	nats, api *natsrun.Link
	m         *roles.Manager
	address   string
	faults    chan error // the first of the API server
	stop      func()

	mu           sync.Mutex
	epoch        uint64
	began, ended time.Time // of the work of the last term
}

func (c *cluster) joins(t *testing.T, s *natsrun.Server, i int) *member {
	t.Helper()
	p := &member{
		nats: s.Link(), api: natsrun.NewLink(&net.Dialer{}), address: fmt.Sprint("10.0.0.", i+1), faults: make(chan error, 1),
	}
	client, name := c.inPod(t, p.api), fmt.Sprint("pod-", i)
	m, err := roles.New(roles.Config{
		URL: s.URL(), NATSOptions: p.nats.Options(), Bucket: "roles", BucketAutoCreate: true, InstanceID: name,
		TTL: time.Second, CoolDown: 10 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.m = m
	service := &kube.LeaderEndpoint{
		Session: m.Session(), Service: "scheduler-leader", Ports: []kube.Port{{Name: "http", Port: 8080}},
		Address: p.address, Pod: name, Client: client, Every: 100 * time.Millisecond,
		OnError: func(err error) {
			select {
			case p.faults <- err:
			default:
			}
		},
	}
	label := kube.LeaderLabel{Pod: name, Client: client, OnError: func(error) {}} // most pods are not there
	err = m.Add(roles.Role{Name: "scheduler", Lead: service.Lead(label.Lead(p.lead))})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	go func() {
		defer close(over)
		_ = m.Run(ctx) // of a process that is cut off: that its link is closed
	}()
	p.stop = func() {
		cancel()
		<-over
	}
	t.Cleanup(func() {
		p.nats.Heal()
		p.api.Heal()
		p.stop()
		p.api.Close()
	})
	return p
}

func (p *member) lead(ctx context.Context, term *election.Term) error {
	p.mu.Lock()
	p.epoch, p.began = term.Epoch(), time.Now()
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock()
	p.ended = time.Now()
	p.mu.Unlock()
	return nil
}

// leads is the epoch of the term that the member leads, 0 if it does not.
func (p *member) leads() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, ok := p.m.Election("scheduler"); !ok || !e.IsLeader() || p.ended.After(p.began) {
		return 0
	}
	return p.epoch
}

func (c *cluster) slice(t *testing.T) (*discoveryv1.EndpointSlice, error) {
	return c.DiscoveryV1().EndpointSlices(c.namespace).Get(t.Context(), "scheduler-leader", metav1.GetOptions{})
}

func address(s *discoveryv1.EndpointSlice) string {
	if s == nil || len(s.Endpoints) == 0 {
		return ""
	}
	return s.Endpoints[0].Addresses[0]
}

// version is the slice as it was at one time.
type version struct {
	address string
	epoch   uint64
	seen    time.Time
}

// history is every version of the slices of the Service, as a watch shows them.
type history struct {
	mu  sync.Mutex
	all []version
}

func (h *history) last() version {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.all) == 0 {
		return version{}
	}
	return h.all[len(h.all)-1]
}

// first is the first version that names somebody at an epoch.
func (h *history) first(epoch uint64) (version, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.all, func(v version) bool { return v.epoch == epoch && v.address != "" })
	if i < 0 {
		return version{}, false
	}
	return h.all[i], true
}

// watches sees each version, and fails the test if one names two pods, or follows a newer one.
func (c *cluster) watches(t *testing.T) *history {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	everything := metav1.ListOptions{ResourceVersion: "0"} // there is no slice yet
	w, err := c.DiscoveryV1().EndpointSlices(c.namespace).Watch(ctx, everything)
	if err != nil {
		t.Fatal(err)
	}
	h, over := &history{}, make(chan struct{})
	go func() {
		defer close(over)
		for e := range w.ResultChan() {
			if ctx.Err() != nil {
				return // an error may come of that
			}
			s, ok := e.Object.(*discoveryv1.EndpointSlice)
			if !ok || e.Type == watch.Deleted || s.Name != "scheduler-leader" {
				t.Errorf("%s of %v", e.Type, e.Object)
				continue
			}
			epoch, err := strconv.ParseUint(s.Annotations["rolemanager/epoch"], 10, 64)
			if err != nil || epoch < h.last().epoch {
				t.Errorf("epoch %d after %d, %v", epoch, h.last().epoch, err)
			}
			if len(s.Endpoints) > 1 || len(s.Endpoints) == 1 && len(s.Endpoints[0].Addresses) != 1 {
				t.Errorf("the slice names %v", s.Endpoints)
			}
			h.mu.Lock()
			h.all = append(h.all, version{address(s), epoch, time.Now()})
			h.mu.Unlock()
		}
		if ctx.Err() == nil {
			t.Error("the watch has ended")
		}
	}()
	t.Cleanup(func() {
		stop()
		<-over
	})
	return h
}

// TestSlice: three processes contend, on real servers of NATS and Kubernetes. Their links to both
// are cut in drawn order. Each version of the slice is watched: none names two pods, or an older
// epoch, and the leader that reaches the API server is named.
//
//	go test -run TestSlice -rounds 100
func TestSlice(t *testing.T) {
	c, nats := aCluster(t), natstest.Server(t, natstest.Listen)
	c.applied(t)
	h := c.watches(t)
	all := []*member{c.joins(t, nats, 0), c.joins(t, nats, 1), c.joins(t, nats, 2)}
	named := func(after uint64) (p *member) {
		t.Helper()
		natstest.Eventually(t, "the slice names the leader", time.Minute, func() (bool, string) {
			now := h.last()
			for _, p = range all {
				if epoch := p.leads(); epoch > after && now == (version{p.address, epoch, now.seen}) {
					return true, ""
				}
			}
			return false, fmt.Sprintf("%+v after epoch %d", now, after)
		})
		return p
	}
	draw, kinds := rand.New(rand.NewPCG(5, 6)), map[string]int{}
	for round := range *rounds {
		p := named(0)
		before, kind, stepsDown := p.leads(), "", true
		switch (round + draw.IntN(2)) % 6 {
		case 0:
			kind = "stepped down"
		case 1:
			kind, stepsDown = "cut off from NATS", false
			p.nats.Cut()
		case 2:
			kind, stepsDown = "cut off from both", false
			p.nats.Cut()
			p.api.Cut()
		case 3:
			kind = "cut off from the API server, and stepped down"
			p.api.Cut()
		case 4:
			kind, stepsDown = "cut off from NATS, all slow to the API server", false
			p.nats.Cut()
			for _, q := range all {
				q.api.Delay(time.Duration(draw.IntN(200)) * time.Millisecond)
			}
		case 5:
			kind = "answers of the API server are lost, and stepped down"
			p.api.CutOneWay(natsrun.ToClient)
		}
		kinds[kind]++
		if round%2 == 0 {
			all[draw.IntN(3)].api.Reset() // breaks requests under way
		}
		if e, ok := p.m.Election("scheduler"); ok && stepsDown {
			if err := e.StepDown(t.Context()); err != nil && !errors.Is(err, election.ErrNotLeader) {
				t.Fatal(err)
			}
		}
		named(before)
		for _, q := range all {
			q.nats.Heal()
			q.api.Heal()
		}
	}
	p := named(0)
	for _, q := range all {
		if q != p {
			q.stop()
		}
	}
	p.stop()
	h.mu.Lock()
	defer h.mu.Unlock()
	terms := map[uint64]bool{}
	for _, v := range h.all {
		terms[v.epoch] = true
	}
	if last := h.all[len(h.all)-1]; last.address != "" {
		t.Errorf("in the end the slice names %+v", last)
	}
	t.Logf("%d versions of the slice, in %d terms, under %v", len(h.all), len(terms), kinds)
}

// TestRewritten measures how long the slice of a real API server takes to follow a hand-over.
func TestRewritten(t *testing.T) {
	c, nats := aCluster(t), natstest.Server(t, natstest.Listen)
	c.applied(t)
	h := c.watches(t)
	all := []*member{c.joins(t, nats, 0), c.joins(t, nats, 1)}
	var fromWork, fromEnd []time.Duration
	next := func(after uint64) (p *member, v version) {
		natstest.Eventually(t, "the slice names the leader", time.Minute, func() (ok bool, seen string) {
			for _, p = range all {
				if epoch := p.leads(); epoch > after {
					v, ok = h.first(epoch)
					return ok, fmt.Sprint(epoch)
				}
			}
			return false, ""
		})
		return p, v
	}
	p, _ := next(0)
	for range 5 * *rounds {
		before := p.leads()
		e, _ := p.m.Election("scheduler")
		if err := e.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		q, v := next(before)
		q.mu.Lock()
		fromWork = append(fromWork, v.seen.Sub(q.began))
		q.mu.Unlock()
		p.mu.Lock()
		if q != p {
			fromEnd = append(fromEnd, v.seen.Sub(p.ended))
		}
		p.mu.Unlock()
		p = q
	}
	for what, d := range map[string][]time.Duration{
		"the work of the next leader began": fromWork, "the work of the former leader ended": fromEnd,
	} {
		slices.Sort(d)
		t.Logf("rewritten after %s: median %v, p90 %v, most %v, of %d",
			what, d[len(d)/2], d[len(d)*9/10], d[len(d)-1], len(d))
	}
}

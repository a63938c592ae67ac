package controllerruntime

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/kube"
	"github.com/rolemanager/rolemanager/roles"
)

// TestOverlap: leaders of drawn terms overlap, as if none knew that it leads no more. Their
// requests to a real API server and the answers are held up and lost. No version of the slice is
// older than the one before it, and at the end the last leader is named.
//
//	go test -run TestOverlap -rounds 100
func TestOverlap(t *testing.T) {
	nats := natstest.Server(t, natstest.Listen)
	m, err := roles.New(roles.Config{URL: nats.URL(), Bucket: "roles", BucketAutoCreate: true, TTL: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- m.Run(ctx) }()
	defer func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	}()
	natstest.Eventually(t, "the session is open", 20*time.Second, func() (bool, string) {
		return m.Session().BucketID() != "", ""
	})
	versions := 0
	for seed := range uint64(*rounds) {
		versions += testOverlap(t, m.Session(), seed)
	}
	t.Logf("%d versions of the slice", versions)
}

func testOverlap(t *testing.T, session *election.Session, seed uint64) int {
	c := aCluster(t)
	c.applied(t)
	h, draw := c.watches(t), rand.New(rand.NewPCG(seed, 1))
	var links []*natsrun.Link
	var ends []func(error)
	var all sync.WaitGroup
	last := ""
	for i := range 6 {
		ctx, term, end := electiontest.NewTerm(t, "scheduler")
		link := natsrun.NewLink(&net.Dialer{})
		t.Cleanup(link.Close)
		last = fmt.Sprint("10.0.1.", i+1)
		service := &kube.LeaderEndpoint{
			Session: session, Service: "scheduler-leader", Ports: []kube.Port{{Name: "http", Port: 8080}}, Address: last,
			Client: c.inPod(t, link), Every: time.Millisecond, OnError: func(error) {},
		}
		lead := service.Lead(func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})
		all.Go(func() { _ = lead(ctx, term) })
		links, ends = append(links, link), append(ends, end)
		for range 5 {
			l := links[draw.IntN(len(links))]
			switch draw.IntN(5) {
			case 0:
				l.DelayDir(natsrun.ToServer, time.Duration(draw.IntN(50))*time.Millisecond)
			case 1:
				l.DelayDir(natsrun.ToClient, time.Duration(draw.IntN(50))*time.Millisecond)
			case 2:
				l.Reset()
			case 3:
				l.Cut()
			case 4:
				l.Heal()
			}
			time.Sleep(time.Duration(draw.IntN(8)) * time.Millisecond)
		}
		if i > 1 && draw.IntN(2) == 0 {
			ends[draw.IntN(i)](election.ErrSteppedDown)
		}
	}
	for _, l := range links {
		l.Heal()
	}
	natstest.Eventually(t, "the slice names the last leader", 30*time.Second, func() (bool, string) {
		return h.last().address == last, fmt.Sprintf("seed %d: %+v", seed, h.last())
	})
	for _, end := range ends {
		end(election.ErrSteppedDown)
	}
	all.Wait()
	if s, err := c.slice(t); err != nil || address(s) != "" {
		t.Errorf("seed %d: after the last term the slice names %q, %v", seed, address(s), err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}

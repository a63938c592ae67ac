package jobs

import (
	"context"
	"fmt"
	"time"

	"github.com/rolemanager/rolemanager/bench/peers/queue"
	"github.com/rolemanager/rolemanager/bench/peers/stores"
	"github.com/rolemanager/rolemanager/bench/proc"
)

// crew is worker processes over one store, and a submitter in this process.
type crew struct {
	*ledger
	peer    queue.Peer
	store   stores.Store
	config  queue.Config
	client  queue.Client
	workers map[string]*proc.Child
	hired   int
}

func newCrew(ctx context.Context, p queue.Peer, synced bool, c queue.Config) (*crew, error) {
	start := func() (stores.Store, error) { return stores.Start(p.Store, synced) }
	if c.Replicas > 0 {
		start = func() (stores.Store, error) { return stores.StartReplicas(ctx, synced, c.Replicas) }
	}
	s, err := start()
	if err != nil {
		return nil, err
	}
	c.Addr = s.Addr()
	client, err := p.Connect(ctx, c)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &crew{ledger: newLedger(), peer: p, store: s, config: c, client: client, workers: map[string]*proc.Child{}}, nil
}

// hire starts workers.
func (c *crew) hire(n int, do string) error {
	for range n {
		c.hired++
		name := fmt.Sprint("w", c.hired)
		cfg := c.config
		cfg.Name = name
		x, err := proc.Start(queue.Kind, queue.Process{Peer: c.peer.Name, Config: cfg, Do: do}, c.hear(name))
		if err != nil {
			return err
		}
		c.workers[name] = x
	}
	return nil
}

func (c *crew) kill(name string) (at int64) {
	at = c.workers[name].Kill()
	delete(c.workers, name)
	return at
}

// runs waits until a task begins at a worker after a time.
func (c *crew) runs(ctx context.Context, id string, after int64, limit time.Duration) (moment, error) {
	all, err := c.await(ctx, "task "+id+" begins", limit, 1, func(m moment) bool {
		return m.what == queue.Run && m.of == id && m.at > after
	})
	if err != nil {
		return moment{}, err
	}
	return all[0], nil
}

// ran is how many handlers have begun.
func (c *crew) ran(ctx context.Context) (sum int, err error) {
	for _, w := range c.workers {
		n := 0
		if err := w.Call(ctx, "ran", nil, &n); err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// completed waits until n tasks have a stored end. The store is asked only when all handlers have
// begun: to count what is in it may be work, which must not be part of the load.
func (c *crew) completed(ctx context.Context, n int, limit time.Duration) error {
	end := time.Now().Add(limit)
	count, asked := c.ran, false
	for {
		done, err := count(ctx)
		if err != nil {
			return err
		}
		if done >= n && !asked {
			count, asked = c.client.Completed, true
			continue
		}
		if done >= n {
			return nil
		}
		if time.Now().After(end) {
			return &overdueError{"stored ends", limit, done, n}
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
}

func (c *crew) close() {
	for name := range c.workers {
		c.kill(name)
	}
	c.client.Close()
	c.store.Close()
}

// mode is how the store's setting is called in the rows.
func mode(synced bool) string {
	if synced {
		return "synced"
	}
	return "buffered"
}

// replicated is how it is called on three servers.
const replicated = "synced, three replicas"

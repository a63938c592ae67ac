package natsrun

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ProcessCluster is a number of servers with routes to one another, each in a process of its own, so that each has a wall clock
// of its own. Servers are counted from 0 and named n0, n1, ...
//
// Its methods are for one goroutine at a time, but for URLs, Connect, Link and LeaderOf.
type ProcessCluster struct {
	nodes []*Process
	doors []*Proxy // where the routes to each server are taken: its own port is known when it runs

	mu    sync.Mutex
	links []*Link
}

// StartProcessCluster starts as many processes of a program that calls Serve as ClusterOptions say; Dir is needed, and Configure
// does not count. It waits until they take connections, not for their leaders: WaitReady does. Shutdown ends them.
func StartProcessCluster(program []string, opts ClusterOptions) (*ProcessCluster, error) {
	if opts.Dir == "" {
		return nil, errors.New("natsrun: servers of their own need a Dir")
	}
	size := opts.Size
	if size == 0 {
		size = 3
	}
	c := &ProcessCluster{}
	if err := c.start(program, size, opts); err != nil {
		return nil, errors.Join(err, c.Shutdown())
	}
	return c, nil
}

func (c *ProcessCluster) start(program []string, size int, opts ClusterOptions) error {
	var routes []string
	for range size {
		door, err := NewProxy("")
		if err != nil {
			return err
		}
		c.doors = append(c.doors, door)
		routes = append(routes, door.Addr())
	}
	for i := range size {
		name := fmt.Sprintf("n%d", i)
		p, err := startProcess(program, served{
			StoreDir: filepath.Join(opts.Dir, name), SyncAlways: opts.SyncAlways, Name: name, Routes: routes,
		})
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, p)
		port, err := p.ask("routes", "routes")
		if err != nil {
			return err
		}
		c.doors[i].Retarget(fmt.Sprintf("127.0.0.1:%d", port))
	}
	return nil
}

// Size is the number of servers.
func (c *ProcessCluster) Size() int { return len(c.nodes) }

// Process is server i, whose clock Step moves. It must not be killed or restarted: the way to its routes would be lost.
func (c *ProcessCluster) Process(i int) *Process { return c.nodes[i] }

// URLs are where clients reach the cluster, separated by commas as nats.Connect takes them.
func (c *ProcessCluster) URLs() string {
	var urls []string
	for _, p := range c.nodes {
		urls = append(urls, p.URL())
	}
	return strings.Join(urls, ",")
}

// Connect returns a connection to any of the servers.
func (c *ProcessCluster) Connect(opts ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(c.URLs(), opts...)
	if err != nil {
		return nil, fmt.Errorf("natsrun: connect to cluster: %w", err)
	}
	return nc, nil
}

// Link returns a path that leads one client to all servers, with faults of its own. Shutdown closes it.
func (c *ProcessCluster) Link() *Link {
	l := NewLink(&net.Dialer{Timeout: nats.DefaultTimeout})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, l)
	return l
}

// WaitReady waits until all servers have routes to one another and follow one of them: then streams can be made.
//
// Error: ctx's, with what was seen last, or that a process has ended.
func (c *ProcessCluster) WaitReady(ctx context.Context) error {
	var ended error
	err := await(ctx, "cluster", func() (bool, string) {
		var seen []int64
		for _, p := range c.nodes {
			n, err := p.ask(fmt.Sprint("formed ", len(c.nodes)), "formed")
			if err != nil {
				ended = err
				return true, ""
			}
			seen = append(seen, n)
		}
		ok := !slices.Contains(seen, unformed) && slices.Contains(seen, leads)
		return ok, fmt.Sprintf("%v (%d: not whole, %d: follows, %d: leads)", seen, unformed, follows, leads)
	})
	return errors.Join(err, ended)
}

// LeaderOf is the server that leads a stream, as it says itself.
//
// Error: the API's, for instance that nobody answers while none does.
func (c *ProcessCluster) LeaderOf(ctx context.Context, nc *nats.Conn, stream string) (i int, err error) {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	js, err := jetstream.New(nc)
	if err != nil {
		return 0, err
	}
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return 0, fmt.Errorf("natsrun: leader of %s: %w", stream, err)
	}
	if info := s.CachedInfo().Cluster; info != nil {
		for i := range c.nodes {
			if info.Leader == fmt.Sprintf("n%d", i) {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("natsrun: leader of %s: it has none", stream)
}

// MoveLeader makes the leader of a stream give that to server to, again and again until it leads: a server that is behind
// may not be elected.
//
// Error: ctx's, with what was seen last.
func (c *ProcessCluster) MoveLeader(ctx context.Context, nc *nats.Conn, stream string, to int) error {
	var asked time.Time
	return await(ctx, fmt.Sprintf("n%d to lead %s", to, stream), func() (bool, string) {
		now, err := c.LeaderOf(ctx, nc, stream)
		if err != nil {
			return false, err.Error()
		}
		if now != to && time.Since(asked) > stepDownWithin {
			asked = time.Now()
			ctx, cancel := context.WithTimeout(ctx, answerWithin)
			defer cancel()
			err = stepDown(ctx, nc, stream, &server.Placement{Preferred: fmt.Sprintf("n%d", to)})
		}
		return now == to, fmt.Sprintf("n%d leads, %v", now, err)
	})
}

const (
	// answerWithin bounds one request to JetStream: a stream that has no leader answers nothing.
	answerWithin = 2 * time.Second
	// stepDownWithin is how long a stream's leader may take to be replaced before it is asked again.
	stepDownWithin = 10 * time.Second
)

// Shutdown lets all servers end, and closes the links and what lay between them. Their store stays.
func (c *ProcessCluster) Shutdown() error {
	var errs []error
	for _, p := range c.nodes {
		errs = append(errs, p.Shutdown())
	}
	c.mu.Lock()
	links := c.links
	c.links = nil
	c.mu.Unlock()
	for _, l := range links {
		l.Close()
	}
	for _, door := range c.doors {
		door.Close()
	}
	return errors.Join(errs...)
}

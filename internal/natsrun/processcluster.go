package natsrun

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// ProcessCluster is a number of servers with routes to one another, each in a process of its own,
// so that each has a wall clock of its own. Servers are counted from 0 and named n0, n1, ...
//
// Its methods are for one goroutine at a time, except URL, URLs, Connect, Link and LeaderOf.
type ProcessCluster struct {
	clientAddrs // through the servers' fronts

	nodes []*Process
	doors []*Proxy // the address for routes to each server: its own port is known only when it runs
}

// StartProcessCluster starts the processes of a program that calls Serve, as ClusterOptions
// describe; Dir is required, and Configure does not count. It waits until they take connections,
// but not for their leaders: WaitReady does. Shutdown ends them.
func StartProcessCluster(program []string, opts ClusterOptions) (*ProcessCluster, error) {
	if opts.Dir == "" {
		return nil, errors.New("natsrun: servers of their own need a Dir")
	}
	c := &ProcessCluster{}
	if err := c.start(program, opts); err != nil {
		return nil, errors.Join(err, c.Shutdown())
	}
	return c, nil
}

func (c *ProcessCluster) start(program []string, opts ClusterOptions) error {
	var routes []string
	for range opts.size() {
		door, err := NewProxy("")
		if err != nil {
			return err
		}
		c.doors = append(c.doors, door)
		routes = append(routes, door.Addr())
	}
	for i := range c.doors {
		name := nodeName(i)
		p, err := startProcess(program, served{
			StoreDir: filepath.Join(opts.Dir, name), SyncAlways: opts.SyncAlways, Name: name,
			Cluster: clusterName(opts.Dir), Routes: routes,
		})
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, p)
		c.urls = append(c.urls, p.URL())
		if err := c.lead(i); err != nil {
			return err
		}
	}
	return nil
}

// lead points the door of server i at the port where the server takes routes since its last start.
func (c *ProcessCluster) lead(i int) error {
	port, err := c.nodes[i].ask("routes", "routes")
	if err != nil {
		return err
	}
	c.doors[i].Retarget(fmt.Sprintf("127.0.0.1:%d", port))
	return nil
}

// Process is server i, whose clock Step moves. Restart it by the cluster's own method.
func (c *ProcessCluster) Process(i int) *Process { return c.nodes[i] }

// Kill ends server i without warning. Nobody is led any longer to the port at which it took routes,
// because another cluster's server may be given that port.
func (c *ProcessCluster) Kill(i int) error {
	c.doors[i].Retarget("")
	return c.nodes[i].Kill()
}

// Restart kills server i, if it runs, and starts it again on the same store and address.
func (c *ProcessCluster) Restart(i int) error {
	if err := c.Kill(i); err != nil {
		return err
	}
	if err := c.nodes[i].Restart(); err != nil {
		return err
	}
	return c.lead(i)
}

// WaitReady waits until all servers have routes to one another and follow one of them. Streams can
// then be made.
//
// Error: ctx's, with the last observation, or that a process has ended.
func (c *ProcessCluster) WaitReady(ctx context.Context) error {
	var ended error
	err := await(ctx, "cluster", func() (bool, string) {
		var m quorum
		for i, p := range c.nodes {
			n, err := p.ask(fmt.Sprint("state ", len(c.nodes)), "state")
			if err != nil {
				ended = err
				return true, ""
			}
			m.add(nodeName(i), serverState(n))
		}
		return m.whole()
	})
	return errors.Join(err, ended)
}

// LeaderOf is the server that leads a stream, by its own account.
//
// Error: the API's, for instance that nobody answers while no server leads.
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
			if info.Leader == nodeName(i) {
				return i, nil
			}
		}
	}
	return 0, fmt.Errorf("natsrun: leader of %s: it has none", stream)
}

// MoveLeader makes the leader of a stream hand over to server to, again and again until that server
// leads: a server that is behind may not be elected.
//
// Error: ctx's, with the last observation.
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
			err = stepDown(ctx, nc, stream, &server.Placement{Preferred: nodeName(to)})
		}
		return now == to, fmt.Sprintf("n%d leads, %v", now, err)
	})
}

const (
	// answerWithin bounds one request to JetStream: a stream without a leader does not answer.
	answerWithin = 2 * time.Second
	// stepDownWithin is how long a stream's leader may take to be replaced before it is asked
	// again.
	stepDownWithin = 10 * time.Second
)

// Shutdown lets all servers end, and closes the links and the proxies between them. Their store
// stays.
func (c *ProcessCluster) Shutdown() error {
	var errs []error
	for _, p := range c.nodes {
		errs = append(errs, p.Shutdown())
	}
	c.links.close()
	for _, door := range c.doors {
		door.Close()
	}
	return errors.Join(errs...)
}

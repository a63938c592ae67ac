package natsrun

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// nowhere is an address that refuses every dial. Servers advertise it for routes, so that gossip cannot lead around the
// proxies: every route is one that was configured.
const nowhere = "127.0.0.1:1"

// ClusterOptions configure a Cluster.
type ClusterOptions struct {
	// Dir holds a store directory for each server. Empty: a temporary directory that Shutdown removes.
	Dir string
	// Size is the number of servers; 0 means 3.
	Size int
	// SyncAlways makes every write to a file stream durable before it is acknowledged.
	SyncAlways bool
	// Configure has the last word on the options of server i, at each of its starts.
	Configure func(i int, so *server.Options)
}

// Cluster is a number of servers in this process, with a Proxy on the way of each server to each other, and one in front
// of each server for its clients. Servers are counted from 0 and named n0, n1, ...
//
// Its methods are for one goroutine at a time, but for URL, URLs, Connect, Link, LeaderOf and the two Wait methods.
type Cluster struct {
	dir     string
	tempDir bool
	nodes   []*Server
	routes  [][]*Proxy // routes[i][j]: from server i to server j
	fronts  []*Proxy

	down  []bool
	group []int // servers reach each other within a group only

	mu    sync.Mutex
	links []*Link
}

// StartCluster starts the servers. It does not wait for their leaders: WaitReady does. Shutdown ends it.
func StartCluster(opts ClusterOptions) (*Cluster, error) {
	size := opts.Size
	if size == 0 {
		size = 3
	}
	c := &Cluster{dir: opts.Dir, down: make([]bool, size), group: make([]int, size)}
	if c.dir == "" {
		dir, err := os.MkdirTemp("", "natsrun-cluster-")
		if err != nil {
			return nil, fmt.Errorf("natsrun: make store directory: %w", err)
		}
		c.dir, c.tempDir = dir, true
	}
	if err := c.start(size, opts); err != nil {
		return nil, errors.Join(err, c.Shutdown())
	}
	return c, nil
}

func (c *Cluster) start(size int, opts ClusterOptions) error {
	for range size {
		front, err := NewProxy("")
		if err != nil {
			return err
		}
		c.fronts = append(c.fronts, front)
		var routes []*Proxy
		c.routes = append(c.routes, nil)
		for range size {
			route, err := NewProxy("")
			if err != nil {
				return err
			}
			routes = append(routes, route)
			c.routes[len(c.routes)-1] = routes
		}
	}
	for i := range size {
		s, err := Start(Options{
			StoreDir:   filepath.Join(c.dir, fmt.Sprintf("n%d", i)),
			Listen:     true,
			Name:       fmt.Sprintf("n%d", i),
			SyncAlways: opts.SyncAlways,
			Configure: func(so *server.Options) {
				c.clusterOptions(i, so)
				if opts.Configure != nil {
					opts.Configure(i, so)
				}
			},
		})
		if err != nil {
			return err
		}
		c.nodes = append(c.nodes, s)
		c.open(i)
	}
	return nil
}

// clusterOptions make server i a member.
func (c *Cluster) clusterOptions(i int, so *server.Options) {
	so.ClientAdvertise = c.fronts[i].Addr()
	var routes []string
	for _, route := range c.routes[i] {
		routes = append(routes, route.Addr())
	}
	routed(so, routes)
}

// routed makes a server a member of a cluster. It lists a route to itself too, which it recognizes and ignores: JetStream takes
// the number of routes for the size of the cluster when it is new.
func routed(so *server.Options, routes []string) {
	so.Cluster = server.ClusterOpts{
		Name:      "natsrun",
		Host:      "127.0.0.1",
		Port:      server.RANDOM_PORT,
		PoolSize:  -1, // one connection for each pair: a pool is filled by gossip
		Advertise: nowhere,
	}
	so.Routes = nil
	for _, addr := range routes {
		so.Routes = append(so.Routes, &url.URL{Scheme: "nats-route", Host: addr})
	}
}

// open leads the proxies to server i, which has just started on a new route port.
func (c *Cluster) open(i int) {
	srv := c.nodes[i].Running()
	for from := range c.routes {
		c.routes[from][i].Retarget(srv.ClusterAddr().String())
	}
	c.fronts[i].Retarget(srv.Addr().String())
}

// shut leads the proxies to server i nowhere.
func (c *Cluster) shut(i int) {
	for from := range c.routes {
		c.routes[from][i].Retarget("")
	}
	c.fronts[i].Retarget("")
}

// Size is the number of servers, those that are down included.
func (c *Cluster) Size() int { return len(c.nodes) }

// Server is server i. Its own address leads past its front proxy. Its Stop and Restart must not be called: the
// cluster's own keep the proxies right.
func (c *Cluster) Server(i int) *Server { return c.nodes[i] }

// Front is the way of all clients to server i, for faults.
func (c *Cluster) Front(i int) *Proxy { return c.fronts[i] }

// Route is the way of routes that server from opened to server to, for faults. Only one of the two ways between a pair
// carries their traffic: put a fault on both. Partition and Kill take other faults of their routes away.
func (c *Cluster) Route(from, to int) *Proxy { return c.routes[from][to] }

// URL is where clients reach server i, through its front.
func (c *Cluster) URL(i int) string { return "nats://" + c.fronts[i].Addr() }

// URLs are where clients reach the cluster, separated by commas as nats.Connect takes them.
func (c *Cluster) URLs() string {
	urls := make([]string, len(c.fronts))
	for i := range c.fronts {
		urls[i] = c.URL(i)
	}
	return strings.Join(urls, ",")
}

// Connect returns a connection to any of the servers.
func (c *Cluster) Connect(opts ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(c.URLs(), opts...)
	if err != nil {
		return nil, fmt.Errorf("natsrun: connect to cluster: %w", err)
	}
	return nc, nil
}

// Link returns a path that leads one client to all servers, with faults of its own. Shutdown closes it.
func (c *Cluster) Link() *Link {
	l := NewLink(&net.Dialer{Timeout: nats.DefaultTimeout})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.links = append(c.links, l)
	return l
}

// Shutdown stops all servers, closes the proxies and links, and removes a temporary directory. It returns when all of
// that has ended.
func (c *Cluster) Shutdown() error {
	var errs []error
	for _, s := range c.nodes {
		errs = append(errs, s.Shutdown())
	}
	c.mu.Lock()
	links := c.links
	c.links = nil
	c.mu.Unlock()
	for _, l := range links {
		l.Close()
	}
	for _, p := range c.proxies() {
		p.Close()
	}
	if c.tempDir {
		if err := os.RemoveAll(c.dir); err != nil {
			errs = append(errs, fmt.Errorf("natsrun: remove store directory: %w", err))
		}
	}
	return errors.Join(errs...)
}

func (c *Cluster) proxies() []*Proxy {
	all := append([]*Proxy(nil), c.fronts...)
	for _, routes := range c.routes {
		all = append(all, routes...)
	}
	return all
}

package natsrun

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"path/filepath"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// nowhere is an address that refuses every dial. Servers advertise it for routes, so that gossip
// cannot lead around the proxies: every route is one that was configured.
const nowhere = "127.0.0.1:1"

// ClusterOptions configure a Cluster.
type ClusterOptions struct {
	// Dir holds a store directory for each server. Empty: a temporary directory that Shutdown
	// removes.
	Dir string
	// Size is the number of servers; 0 means 3.
	Size int
	// SyncAlways makes every write to a file stream durable before it is acknowledged.
	SyncAlways bool
	// Configure may change all options of server i, at each of its starts.
	Configure func(i int, so *server.Options)
}

func (o ClusterOptions) size() int { return cmp.Or(o.Size, 3) }

// nodeName is the name of server i of a cluster, and of its store's directory.
func nodeName(i int) string { return fmt.Sprintf("n%d", i) }

// Cluster is a number of servers in this process, with a Proxy on the way from each server to each
// other, and one in front of each server for its clients. Servers are counted from 0 and named n0,
// n1, ...
//
// Its methods are for one goroutine at a time, except URL, URLs, Connect, Link, LeaderOf and the
// two Wait methods.
type Cluster struct {
	clientAddrs // through the fronts

	dir    storeDir
	nodes  []*Server
	routes [][]*Proxy // routes[i][j]: from server i to server j
	fronts []*Proxy

	down  []bool
	group []int // servers reach each other only within a group
}

// StartCluster starts the servers. It does not wait for their leaders: WaitReady does. Shutdown
// ends the cluster.
func StartCluster(opts ClusterOptions) (*Cluster, error) {
	dir, err := openStoreDir(opts.Dir)
	if err != nil {
		return nil, err
	}
	size := opts.size()
	c := &Cluster{dir: dir, down: make([]bool, size), group: make([]int, size)}
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
		c.urls = append(c.urls, "nats://"+front.Addr())
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
			StoreDir:   filepath.Join(c.dir.path, nodeName(i)),
			Listen:     true,
			Name:       nodeName(i),
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
	routed(so, clusterName(c.dir.path), routes)
}

// clusterName is the name of the cluster that keeps its files in dir. No two running clusters have
// the same name, so none takes the server of another for its own, even if that server was given the
// port of one that went down. The same files come back under the same name, because JetStream keeps
// the name with each stream.
func clusterName(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	h := fnv.New64a()
	h.Write([]byte(dir))
	return fmt.Sprintf("natsrun-%016x", h.Sum64())
}

// routed makes a server a member of the cluster of that name. Its routes include one to itself,
// which it recognizes and ignores: JetStream takes the number of routes for the size of a new
// cluster.
func routed(so *server.Options, name string, routes []string) {
	so.Cluster = server.ClusterOpts{
		Name:      name,
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

// open points the proxies at server i, which has just started on a new route port.
func (c *Cluster) open(i int) {
	srv := c.nodes[i].Running()
	for from := range c.routes {
		c.routes[from][i].Retarget(srv.ClusterAddr().String())
	}
	c.fronts[i].Retarget(srv.Addr().String())
}

// shut points the proxies of server i at no server.
func (c *Cluster) shut(i int) {
	for from := range c.routes {
		c.routes[from][i].Retarget("")
	}
	c.fronts[i].Retarget("")
}

// Server is server i. Its own address bypasses its front proxy. Do not call its Stop and Restart:
// the cluster's own methods keep the proxies right.
func (c *Cluster) Server(i int) *Server { return c.nodes[i] }

// Front is the path of all clients to server i, for faults.
func (c *Cluster) Front(i int) *Proxy { return c.fronts[i] }

// Route is the path of routes that server from opened to server to, for faults. Only one of the two
// paths between a pair carries their traffic, so put a fault on both. A fault stays until Heal,
// even when servers are partitioned, go down or come back.
func (c *Cluster) Route(from, to int) *Proxy { return c.routes[from][to] }

// Stretch delays everything between any two servers by d one way, as if each of them was at another
// site. It stays through partitions; 0 ends it.
func (c *Cluster) Stretch(d time.Duration) {
	for i := range c.routes {
		for j := range c.routes[i] {
			if i != j {
				c.routes[i][j].Delay(d)
			}
		}
	}
}

// Shutdown stops all servers, closes the proxies and links, and removes a temporary directory. It
// returns when all of that has ended.
func (c *Cluster) Shutdown() error {
	var errs []error
	for _, s := range c.nodes {
		errs = append(errs, s.Shutdown())
	}
	c.links.close()
	for _, p := range c.proxies() {
		p.Close()
	}
	return errors.Join(append(errs, c.dir.remove())...)
}

func (c *Cluster) proxies() []*Proxy {
	all := append([]*Proxy(nil), c.fronts...)
	for _, routes := range c.routes {
		all = append(all, routes...)
	}
	return all
}

package natsrun

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// SuperclusterOptions configure a Supercluster.
type SuperclusterOptions struct {
	// Clusters are its clusters, each with its name and its number of servers.
	Clusters []ClusterSize
	// Configure may change all options of a server, at its start.
	Configure func(cluster string, so *server.Options)
}

// ClusterSize is a cluster of a Supercluster.
type ClusterSize struct {
	Name string
	Size int // 0 means 3
}

// Supercluster is several clusters with gateways between them, and Proxies on the way from each
// cluster to the servers of each other one. JetStream's meta group spans all servers.
type Supercluster struct {
	names    []string
	clusters []*Cluster
	gates    [][][]*Proxy // gates[from][to][i]: from any server of a cluster to server i of another
}

// gatewayPing is how soon a server notices that a gateway is cut.
const gatewayPing = 500 * time.Millisecond

// StartSupercluster starts the clusters. It does not wait for their leaders: WaitReady does.
// Shutdown ends them.
func StartSupercluster(opts SuperclusterOptions) (*Supercluster, error) {
	s := &Supercluster{}
	if err := s.start(opts); err != nil {
		return nil, errors.Join(err, s.Shutdown())
	}
	return s, nil
}

func (s *Supercluster) start(opts SuperclusterOptions) error {
	sizes := make([]int, len(opts.Clusters))
	for i, c := range opts.Clusters {
		s.names = append(s.names, c.Name)
		sizes[i] = ClusterOptions{Size: c.Size}.size()
	}
	if err := s.build(sizes); err != nil {
		return err
	}
	for at, name := range s.names {
		c, err := StartCluster(ClusterOptions{Size: sizes[at], Configure: func(i int, so *server.Options) {
			s.serverOptions(at, i, so)
			if opts.Configure != nil {
				opts.Configure(name, so)
			}
		}})
		if err != nil {
			return err
		}
		s.clusters = append(s.clusters, c)
		for from := range s.names {
			if from == at {
				continue
			}
			for i, gate := range s.gates[from][at] {
				gate.Retarget(c.nodes[i].Running().GatewayAddr().String())
			}
		}
	}
	return nil
}

// build makes the proxies, which lead nowhere yet.
func (s *Supercluster) build(sizes []int) error {
	s.gates = make([][][]*Proxy, len(sizes))
	for from := range sizes {
		s.gates[from] = make([][]*Proxy, len(sizes))
		for to, size := range sizes {
			if from == to {
				continue
			}
			for range size {
				gate, err := NewProxy("")
				if err != nil {
					return err
				}
				s.gates[from][to] = append(s.gates[from][to], gate)
			}
		}
	}
	return nil
}

// serverOptions make server i of a cluster a member of the supercluster.
func (s *Supercluster) serverOptions(at, i int, so *server.Options) {
	so.ServerName = s.names[at] + "-" + nodeName(i)
	so.Cluster.Name = s.names[at]
	so.PingInterval, so.MaxPingsOut = gatewayPing, 2
	so.Gateway = server.GatewayOpts{
		Name: s.names[at], Host: "127.0.0.1", Port: server.RANDOM_PORT, Advertise: nowhere,
	}
	for to, name := range s.names {
		if to == at {
			continue
		}
		remote := &server.RemoteGatewayOpts{Name: name}
		for _, gate := range s.gates[at][to] {
			remote.URLs = append(remote.URLs, &url.URL{Scheme: "nats", Host: gate.Addr()})
		}
		so.Gateway.Gateways = append(so.Gateway.Gateways, remote)
	}
}

// Cluster is cluster i, in the order of the options. Its Restart does not bring its gateways back.
func (s *Supercluster) Cluster(i int) *Cluster { return s.clusters[i] }

// between are the paths between two clusters, in both directions.
func (s *Supercluster) between(a, b int) []*Proxy {
	return append(append([]*Proxy(nil), s.gates[a][b]...), s.gates[b][a]...)
}

// Cut cuts two clusters off from each other: every byte between them is lost.
func (s *Supercluster) Cut(a, b int) {
	for _, gate := range s.between(a, b) {
		gate.Cut()
	}
}

// Delay lets every byte between two clusters arrive later.
func (s *Supercluster) Delay(a, b int, d time.Duration) {
	for _, gate := range s.between(a, b) {
		gate.Delay(d)
	}
}

// Heal ends all faults between two clusters. Their servers dial again within about a second.
func (s *Supercluster) Heal(a, b int) {
	for _, gate := range s.between(a, b) {
		gate.Heal()
	}
}

// WaitReady waits until every server has its routes and gateways, one server leads JetStream's meta
// group of all, and the others follow. Streams can then be made, in every cluster.
//
// Error: ctx's, with the last observation.
func (s *Supercluster) WaitReady(ctx context.Context) error {
	return await(ctx, "supercluster", func() (bool, string) {
		total := 0
		for _, c := range s.clusters {
			total += len(c.nodes)
		}
		leaders, ready := 0, 0
		var seen []string
		for _, c := range s.clusters {
			for _, srv := range c.up() {
				gateways, is := srv.NumOutboundGateways(), stateOf(srv, len(c.nodes))
				leader := srv.JetStreamIsLeader()
				known := len(srv.JetStreamClusterPeers())
				if gateways == len(s.clusters)-1 && srv.JetStreamIsCurrent() && is != unrouted && (!leader || known == total) {
					ready++
				}
				if leader {
					leaders++
				}
				seen = append(seen, fmt.Sprintf("%s: %v, %d gateways, %d peers", srv.Name(), is, gateways, known))
			}
		}
		return leaders == 1 && ready == total, strings.Join(seen, "; ")
	})
}

// Shutdown stops all servers and closes the proxies. It returns when all of that has ended.
func (s *Supercluster) Shutdown() error {
	var errs []error
	for _, c := range s.clusters {
		errs = append(errs, c.Shutdown())
	}
	for _, row := range s.gates {
		for _, gates := range row {
			for _, gate := range gates {
				gate.Close()
			}
		}
	}
	return errors.Join(errs...)
}

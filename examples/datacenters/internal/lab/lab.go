package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Hub is the JetStream domain of the cluster over all sites.
const Hub = "hub"

// Lab is the servers of all sites.
type Lab struct {
	hub   *natsrun.Cluster
	sites map[string]*site
}

// site is one of them.
type site struct {
	at   int             // its server in the cluster
	leaf *natsrun.Server // its own
}

// Start starts the servers of three sites and waits until they have found each other. The first
// site is one whose server does not lead JetStream. Shutdown ends all.
func Start(ctx context.Context, names [3]string) (*Lab, error) {
	hub, err := natsrun.StartCluster(natsrun.ClusterOptions{Size: len(names), Configure: func(_ int, so *server.Options) {
		so.JetStreamDomain = Hub
		so.LeafNode = server.LeafNodeOpts{Host: loopback, Port: server.RANDOM_PORT, NoAdvertise: true}
	}})
	if err != nil {
		return nil, err
	}
	l := &Lab{hub: hub, sites: map[string]*site{}}
	if err := l.start(ctx, names); err != nil {
		return nil, errors.Join(err, l.Shutdown())
	}
	return l, nil
}

const loopback = "127.0.0.1"

func (l *Lab) start(ctx context.Context, names [3]string) error {
	if err := l.hub.WaitReady(ctx); err != nil {
		return err
	}
	leads := 0 // leads JetStream: an election of it is not part of the story
	for i := range names {
		if l.hub.Server(i).Running().JetStreamIsLeader() {
			leads = i
		}
	}
	for i, name := range names {
		at := (leads + 1 + i) % len(names)
		leaf, err := l.startLeaf(name, at)
		if err != nil {
			return err
		}
		l.sites[name] = &site{at, leaf}
	}
	return nil
}

// startLeaf starts the own server of a site, beside its server in the cluster.
func (l *Lab) startLeaf(name string, at int) (*natsrun.Server, error) {
	v, err := l.hub.Server(at).Running().Varz(nil)
	if err != nil {
		return nil, err
	}
	uplink := &url.URL{Scheme: "nats-leaf", Host: net.JoinHostPort(loopback, strconv.Itoa(v.LeafNode.Port))}
	return natsrun.Start(natsrun.Options{Name: name, Listen: true, Configure: func(so *server.Options) {
		so.JetStreamDomain = name
		so.LeafNode.Remotes = []*server.RemoteLeafOpts{{URLs: []*url.URL{uplink}}}
	}})
}

// URL is where the programs of a site find NATS.
func (l *Lab) URL(name string) string { return l.sites[name].leaf.URL() }

// Place has the server of a site lead a stream of the cluster, or the server of another one.
func (l *Lab) Place(ctx context.Context, name, stream string, there bool) error {
	for range 20 {
		if err := l.hub.WaitStream(ctx, stream); err != nil {
			return err
		}
		if at, ok := l.hub.LeaderOf(stream); ok && (at == l.sites[name].at) == there {
			return nil
		}
		if _, _, err := l.hub.MoveLeader(ctx, stream); err != nil {
			return err
		}
	}
	return fmt.Errorf("lab: %s is led elsewhere than wanted, after 20 moves", stream)
}

// Cut drops every byte between a site and the others. Within the site all continues.
func (l *Lab) Cut(name string) error { return l.hub.Partition([]int{l.sites[name].at}) }

// Heal ends that. The servers find each other again within about a second.
func (l *Lab) Heal() { l.hub.HealPartition() }

// Shutdown stops all servers.
func (l *Lab) Shutdown() (err error) {
	for _, s := range l.sites {
		err = cmp.Or(err, s.leaf.Shutdown())
	}
	return cmp.Or(err, l.hub.Shutdown())
}

package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/bench/proc"
)

// member is the place of a server of NATS in a cluster: all have each other's addresses.
type member struct {
	Name   string
	Port   int   // for routes
	Routes []int // the ports of all
}

// join makes a server a member.
func (m *member) join(o *natsserver.Options) {
	o.ServerName = m.Name
	o.Cluster = natsserver.ClusterOpts{Name: "peers", Host: "127.0.0.1", Port: m.Port}
	for _, port := range m.Routes {
		o.Routes = append(o.Routes, &url.URL{Scheme: "nats-route", Host: fmt.Sprintf("127.0.0.1:%d", port)})
	}
}

// cluster is servers of NATS with routes to one another, each a process of its own.
type cluster struct {
	nodes []*embedded
	dir   string
}

// StartReplicas starts so many servers of NATS as one cluster. [Store.Addr] is all their addresses,
// for a URL that begins with "nats://".
func StartReplicas(ctx context.Context, synced bool, n int) (Store, error) {
	dir, err := os.MkdirTemp("", "peers-replicas")
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir}
	if err := c.start(ctx, synced, n); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *cluster) start(ctx context.Context, synced bool, n int) error {
	ports, err := freePorts(n)
	if err != nil {
		return err
	}
	for i, port := range ports {
		name := fmt.Sprint("n", i)
		child, err := proc.Start(Kind, config{
			Kind: "nats", Dir: filepath.Join(c.dir, name), Synced: synced,
			Member: &member{name, port, ports},
		}, nil)
		if err != nil {
			return err
		}
		e := &embedded{Child: child}
		c.nodes = append(c.nodes, e)
		if err := child.Call(ctx, "addr", nil, &e.address); err != nil {
			return err
		}
	}
	return c.ready(ctx)
}

// ready waits until streams can be made.
func (c *cluster) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	nc, err := nats.Connect("nats://" + c.Addr())
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	cfg := jetstream.StreamConfig{Name: "ready", Storage: jetstream.FileStorage, Replicas: len(c.nodes)}
	for {
		try, end := context.WithTimeout(ctx, time.Second) // without a leader nobody answers
		_, err := js.CreateOrUpdateStream(try, cfg)
		end()
		if err == nil {
			return js.DeleteStream(ctx, cfg.Name)
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("wait for a cluster of %d: %w", len(c.nodes), err)
		}
	}
}

// freePorts are ports on which nobody listens now.
func freePorts(n int) (ports []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = l.Close() }() // all at once: so they differ
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}

func (c *cluster) Addr() string {
	var all []string
	for _, e := range c.nodes {
		all = append(all, e.address)
	}
	return strings.Join(all, ",nats://")
}

// Traffic is not counted: messages between the servers would be missing.
func (c *cluster) Traffic(context.Context) (Traffic, error) {
	return Traffic{}, fmt.Errorf("the traffic of a cluster: %w", errors.ErrUnsupported)
}

func (c *cluster) CPU(ctx context.Context) (sum time.Duration, err error) {
	for _, e := range c.nodes {
		d, err := e.CPU(ctx)
		if err != nil {
			return 0, err
		}
		sum += d
	}
	return sum, nil
}

// Profile begins a profile of each server, in a file that begins with the given name.
func (c *cluster) Profile(ctx context.Context, file string) error {
	for i, e := range c.nodes {
		if err := e.Profile(ctx, fmt.Sprintf("%s.%d", file, i)); err != nil {
			return err
		}
	}
	return nil
}

// Profiled ends the profiles.
func (c *cluster) Profiled(ctx context.Context) error {
	for _, e := range c.nodes {
		if err := e.Profiled(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) Close() {
	for _, e := range c.nodes {
		e.Kill()
	}
	_ = os.RemoveAll(c.dir)
}

package natsrun

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// redialAfter is how long a leaf node waits before it dials its hub again.
const redialAfter = 50 * time.Millisecond

// HubOptions configure a Hub.
type HubOptions struct {
	// Domain is the JetStream domain of the hub. It may be empty.
	Domain string
	// Leaves are the leaf nodes.
	Leaves []LeafOptions
	// Configure may change all of the hub's options, at each start.
	Configure func(*server.Options)
}

// LeafOptions configure a Leaf.
type LeafOptions struct {
	// Name of the server, and of its JetStream domain. An empty domain needs Configure.
	Name string
	// NoJetStream means that the leaf node only passes messages on.
	NoJetStream bool
	// DefaultDomain is the domain of requests that name none (default_js_domain). Empty: the leaf
	// node's own.
	DefaultDomain string
	// Configure may change all of the leaf node's options, at each start.
	Configure func(*server.Options)
}

// Hub is a server that leaf nodes connect to, with a Proxy on the way from each of them. Server's
// methods are those of the hub, except that Restart and Shutdown look after the leaf nodes too.
type Hub struct {
	*Server
	domain string
	leaves []*Leaf
}

// Leaf is a leaf node of a Hub.
type Leaf struct {
	*Server
	// Uplink is the path to the hub. ToServer is the direction to the hub.
	Uplink *Proxy
}

// StartHub starts a hub and its leaf nodes, one after the other. WaitLinked waits until they are
// connected. Shutdown ends all of them.
func StartHub(opts HubOptions) (*Hub, error) {
	hub, err := Start(Options{Name: "hub", Listen: true, Configure: func(so *server.Options) {
		so.JetStreamDomain = opts.Domain
		so.LeafNode.Host, so.LeafNode.Port = "127.0.0.1", server.RANDOM_PORT
		so.LeafNode.Advertise = nowhere
		configure(opts.Configure, so)
	}})
	if err != nil {
		return nil, err
	}
	h := &Hub{Server: hub, domain: opts.Domain}
	for _, o := range opts.Leaves {
		if err := h.startLeaf(o); err != nil {
			return nil, errors.Join(err, h.Shutdown())
		}
	}
	return h, h.open()
}

func (h *Hub) startLeaf(o LeafOptions) error {
	uplink, err := NewProxy("")
	if err != nil {
		return err
	}
	leaf := &Leaf{Uplink: uplink}
	h.leaves = append(h.leaves, leaf)
	leaf.Server, err = Start(Options{Name: o.Name, Listen: true, Configure: func(so *server.Options) {
		so.JetStream = !o.NoJetStream
		if so.JetStream {
			so.JetStreamDomain = o.Name
		}
		if o.DefaultDomain != "" {
			so.JsAccDefaultDomain = map[string]string{server.DEFAULT_GLOBAL_ACCOUNT: o.DefaultDomain}
		}
		so.LeafNode.ReconnectInterval = redialAfter
		so.LeafNode.Remotes = []*server.RemoteLeafOpts{{URLs: []*url.URL{{Scheme: "nats-leaf", Host: uplink.Addr()}}}}
		configure(o.Configure, so)
	}})
	return err
}

func configure(change func(*server.Options), so *server.Options) {
	if change != nil {
		change(so)
	}
}

// open points the uplinks at the hub, which has just started on a new port for leaf nodes.
func (h *Hub) open() error {
	v, err := h.Running().Varz(nil)
	if err != nil {
		return fmt.Errorf("natsrun: ask the hub for its port: %w", err)
	}
	for _, leaf := range h.leaves {
		leaf.Uplink.Retarget(net.JoinHostPort("127.0.0.1", strconv.Itoa(v.LeafNode.Port)))
	}
	return nil
}

// Leaf is leaf node i, in the order of the options.
func (h *Hub) Leaf(i int) *Leaf { return h.leaves[i] }

// Restart is Server.Restart of the hub. The leaf nodes find it again.
func (h *Hub) Restart() error {
	if err := h.Server.Restart(); err != nil {
		return err
	}
	return h.open()
}

// WaitLinked waits until every leaf node has a connection to the hub and knows what the hub listens
// to: with a domain, the requests to its JetStream. Error: ctx's, with the last observation.
func (h *Hub) WaitLinked(ctx context.Context) error {
	return await(ctx, "leaf nodes", func() (bool, string) {
		there := h.Running().NumLeafNodes()
		linked := there == len(h.leaves)
		seen := fmt.Sprintf("%d of %d at the hub", there, len(h.leaves))
		for _, leaf := range h.leaves {
			heard, err := leaf.heard()
			linked = linked && err == nil && h.listensIn(heard)
			seen += fmt.Sprintf("; %s knows %d subjects (%v)", leaf.Running().Name(), len(heard), err)
		}
		return linked, seen
	})
}

// WaitHears waits until the leaf node knows that somebody at the hub listens to a subject. Error:
// ctx's, with the subjects that it knows.
func (l *Leaf) WaitHears(ctx context.Context, subject string) error {
	return await(ctx, "a leaf node to hear of "+subject, func() (bool, string) {
		heard, err := l.heard()
		return slices.Contains(heard, subject), fmt.Sprintf("%q (%v)", heard, err)
	})
}

// listensIn reports whether the subjects that a leaf node knows are those of a hub.
func (h *Hub) listensIn(heard []string) bool {
	if h.domain == "" {
		return len(heard) > 0
	}
	return slices.Contains(heard, "$JS."+h.domain+".API.INFO")
}

// heard are the subjects that the hub listens to, as the leaf node knows them.
func (l *Leaf) heard() (subjects []string, err error) {
	z, err := l.Running().Leafz(&server.LeafzOptions{Subscriptions: true})
	if err != nil {
		return nil, err
	}
	for _, link := range z.Leafs {
		subjects = append(subjects, link.Subs...)
	}
	return subjects, nil
}

// Shutdown stops all servers and closes the uplinks. It returns when all of that has ended.
func (h *Hub) Shutdown() error {
	var errs []error
	for _, leaf := range h.leaves {
		if leaf.Server != nil {
			errs = append(errs, leaf.Server.Shutdown())
		}
		leaf.Uplink.Close()
	}
	return errors.Join(append(errs, h.Server.Shutdown())...)
}

package kube

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Port is a port of a leader Service.
type Port struct {
	// Name is that of the port of the Service, "" if it has one port without a name.
	Name string
	// Port is where the pod listens.
	Port int32
	// Protocol is TCP, UDP or SCTP. Default TCP.
	Protocol string
}

// LeaderEndpoint has a Service lead to the pod that leads a role. The Service has no selector. Its
// one EndpointSlice is named like the Service, and is written by the leader: when the term begins,
// and before the role is given away.
//
// The service account needs to get, create and update endpointslices. One LeaderEndpoint belongs to
// one role.
type LeaderEndpoint struct {
	// Session is the session of the role: that of its manager.
	Session *election.Session
	// Service is the name of the Service.
	Service string
	// Ports are those of the Service.
	Ports []Port
	// Address is the address of this pod. Default: the environment variable POD_IP.
	Address string
	// Pod and Node are the names of this pod and its node, shown by kubectl. Default: POD_NAME and
	// NODE_NAME. They may be empty.
	Pod, Node string
	// Client talks to the API server. Default: [InCluster].
	Client *Client
	// Every is how often the leader looks whether the slice is still as it was written. Default 10 s.
	Every time.Duration
	// OnError is called with what keeps the slice from being written. It is tried again, unless the
	// error is [ErrStale]. Default: slog.Warn.
	OnError func(error)

	once   sync.Once
	client *Client
	broken error
	bucket func() (id string, ttl time.Duration) // of a test
}

// patience is for how long a slice may keep a role from being given away.
const patience = 2 * time.Second

// Lead is work that writes the slice in the term of work. The work begins at once, whether the API
// server answers or not. The slice is emptied when the context of the term ends, beside the drain
// of work, and when work returns by itself. An error of the configuration ends the term:
// *[ConfigError], [ErrNotInCluster].
func (e *LeaderEndpoint) Lead(
	work func(context.Context, *election.Term) error,
) func(context.Context, *election.Term) error {
	return func(ctx context.Context, t *election.Term) error {
		if err := e.begin(); err != nil {
			return err
		}
		keeping, stop := context.WithCancel(ctx)
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			e.keep(keeping, t)
		}()
		defer func() {
			stop()
			<-kept
		}()
		return work(ctx, t)
	}
}

// begin checks the configuration once.
func (e *LeaderEndpoint) begin() error {
	e.once.Do(func() {
		e.Address = cmp.Or(e.Address, os.Getenv("POD_IP"))
		e.Pod, e.Node = cmp.Or(e.Pod, os.Getenv("POD_NAME")), cmp.Or(e.Node, os.Getenv("NODE_NAME"))
		e.Every = cmp.Or(e.Every, 10*time.Second)
		if e.OnError == nil {
			e.OnError = func(err error) { slog.Warn("leader endpoint", "service", e.Service, "error", wording.Plain(err)) }
		}
		if e.bucket == nil && e.Session != nil {
			e.bucket = func() (string, time.Duration) { return e.Session.BucketID(), e.Session.Config().TTL }
		}
		_, err := netip.ParseAddr(e.Address)
		switch {
		case e.bucket == nil:
			e.broken = &ConfigError{"Session", "it is nil: set it to the Session of the manager"}
		case e.Service == "":
			e.broken = &ConfigError{"Service", "it is empty: name a Service without a selector"}
		case len(e.Ports) == 0:
			e.broken = &ConfigError{"Ports", "there is none: name those of the Service"}
		case err != nil:
			e.broken = &ConfigError{"Address", "it is not an IP address: set POD_IP from status.podIP"}
		case e.Client != nil:
			e.client = e.Client
		default:
			e.client, e.broken = InCluster()
		}
	})
	return e.broken
}

// keep writes the slice, and again when somebody has changed it, until ctx ends. Then it empties
// the slice.
func (e *LeaderEndpoint) keep(ctx context.Context, t *election.Term) {
	k := keeper{client: e.client, name: e.Service}
	defer func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		_, err := backoff.Retry(ending, func() (struct{}, error) { return struct{}{}, k.clear(ending) },
			backoff.WithBackOff(pauses()))
		if err != nil {
			e.OnError(err)
		}
	}()
	retry := pauses()
	for t.Valid() {
		wait, err := k.write(ctx, e.wanted(t))
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrStale):
			e.OnError(err)
			return
		case err != nil:
			e.OnError(err)
			wait = retry.NextBackOff()
		default:
			retry.Reset()
			wait = cmp.Or(wait, e.Every)
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// pauses are those between requests that fail.
func pauses() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 50*time.Millisecond, 5*time.Second
	return b
}

// wanted is the slice of a term.
func (e *LeaderEndpoint) wanted(t *election.Term) slice {
	address := netip.MustParseAddr(e.Address).Unmap() // begin has checked it
	s := slice{
		APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice", AddressType: family(address),
		Metadata: metadata{
			Name: e.Service, Namespace: e.client.Namespace,
			Labels: map[string]string{labelService: e.Service, labelManagedBy: managedBy},
		},
		Endpoints: []endpoint{{
			Addresses: []string{address.String()}, Conditions: conditions{Ready: true}, NodeName: e.Node,
		}},
	}
	if e.Pod != "" {
		s.Endpoints[0].TargetRef = &reference{"Pod", e.client.Namespace, e.Pod}
	}
	for _, p := range e.Ports {
		s.Ports = append(s.Ports, port{p.Name, p.Port, cmp.Or(p.Protocol, "TCP")})
	}
	id, ttl := e.bucket()
	claim{t.Role(), id, t.Epoch(), ttl}.on(&s)
	return s
}

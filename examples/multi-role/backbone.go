package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// backbone is where the messages go: a server embedded in this process, with its files in a temporary directory and a port on
// loopback, or whatever a URL leads to.
type backbone struct {
	url      string
	embedded *natsrun.Server // nil with -nats
	dialer   nats.CustomDialer
}

// connect starts the embedded server, or checks that there is one at urls.
func connect(ctx context.Context, urls string) (*backbone, error) {
	if urls == "" {
		server, err := natsrun.Start(natsrun.Options{Listen: true})
		if err != nil {
			return nil, fmt.Errorf("start the embedded NATS server: %w", err)
		}
		return &backbone{url: server.URL(), embedded: server, dialer: server}, nil
	}
	b := &backbone{url: urls, dialer: &net.Dialer{Timeout: 2 * time.Second}}
	nc, err := b.client("multi-role check")
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := nc.FlushWithContext(ctx); err != nil {
		return nil, fmt.Errorf("reach NATS at %s: %w", nc.ConnectedUrlRedacted(), err)
	}
	return b, nil
}

// link is a network path of its own: cutting it makes whoever uses it vanish, and nobody else.
func (b *backbone) link() *natsrun.Link { return natsrun.NewLink(b.dialer) }

// client is a plain connection beside all links.
func (b *backbone) client(name string) (*nats.Conn, error) {
	nc, err := nats.Connect(b.url, nats.SetCustomDialer(b.dialer), nats.Name(name), nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), nats.ReconnectWait(100*time.Millisecond), nats.PingInterval(2*time.Second))
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", redacted(b.url), err)
	}
	return nc, nil
}

// redacted is a list of URLs without passwords.
func redacted(urls string) string {
	all := strings.Split(urls, ",")
	for i, text := range all {
		if u, err := url.Parse(strings.TrimSpace(text)); err == nil {
			all[i] = u.Redacted()
		}
	}
	return strings.Join(all, ",")
}

// close shuts the embedded server down and removes its files.
func (b *backbone) close() error {
	if b.embedded == nil {
		return nil
	}
	return b.embedded.Shutdown()
}

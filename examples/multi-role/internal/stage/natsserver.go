package stage

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

// natsServer carries the messages: a server embedded in this process, with its files in a temporary
// directory and a port on loopback, or the server or cluster of a URL.
type natsServer struct {
	url      string
	embedded *natsrun.Server // nil with -nats
	dialer   nats.CustomDialer
}

// startNATS starts the embedded server, or checks that one answers at urls.
func startNATS(ctx context.Context, urls string) (*natsServer, error) {
	if urls == "" {
		server, err := natsrun.Start(natsrun.Options{Listen: true})
		if err != nil {
			return nil, fmt.Errorf("start the embedded NATS server: %w", err)
		}
		return &natsServer{url: server.URL(), embedded: server, dialer: server}, nil
	}
	s := &natsServer{url: urls, dialer: &net.Dialer{Timeout: 2 * time.Second}}
	nc, err := s.connect("multi-role check")
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := nc.FlushWithContext(ctx); err != nil {
		return nil, fmt.Errorf("reach NATS at %s: %w", nc.ConnectedUrlRedacted(), err)
	}
	return s, nil
}

// link is a new network path. A cut makes its clients vanish, and no others.
func (s *natsServer) link() *natsrun.Link { return natsrun.NewLink(s.dialer) }

// connect is a connection beside all links.
func (s *natsServer) connect(name string) (*nats.Conn, error) {
	nc, err := nats.Connect(s.url, nats.SetCustomDialer(s.dialer), nats.Name(name), nats.MaxReconnects(-1),
		nats.ReconnectBufSize(-1), nats.ReconnectWait(100*time.Millisecond), nats.PingInterval(2*time.Second))
	if err != nil {
		return nil, fmt.Errorf("connect to NATS at %s: %w", redacted(s.url), err)
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
func (s *natsServer) close() error {
	if s.embedded == nil {
		return nil
	}
	return s.embedded.Shutdown()
}

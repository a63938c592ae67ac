package discovery

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Server is the address of a NATS server.
type Server struct {
	// URL is nats://host:port, or one with tls, ws or wss.
	URL string
	// Zone is where the server is, such as a data centre; "" if that is unknown.
	Zone string
}

// Servers is a source of the addresses of servers.
type Servers interface {
	// Next returns the present list if it differs from last, else it blocks until it does. With an
	// empty last it returns the first list. The order has no meaning, see [Same].
	//
	// An error says that the look-up has failed, or that ctx has ended. The caller keeps its last
	// list, and calls again after a while.
	Next(ctx context.Context, last []Server) ([]Server, error)
}

// MostServers is how many servers a list has at most.
const MostServers = 1000

// defaultPort is the port of a URL without one.
const defaultPort = "4222"

// Same reports whether two lists have the same servers in the same zones, in any order.
func Same(a, b []Server) bool { return slices.Equal(sorted(a), sorted(b)) }

// sorted is a copy of the list in order, without repetitions.
func sorted(list []Server) []Server {
	return slices.Compact(slices.SortedFunc(slices.Values(list), func(a, b Server) int {
		return cmp.Or(cmp.Compare(a.URL, b.URL), cmp.Compare(a.Zone, b.Zone))
	}))
}

// Normal returns the list with a scheme and a port in every URL, sorted, and without repetitions.
// Errors: [ErrEmpty], [ErrTooMany], and *[AddressError] for a URL that cannot be used.
func Normal(list []Server) ([]Server, error) {
	all := make([]Server, 0, min(len(list), MostServers))
	for _, s := range list {
		address, err := normal(s.URL)
		if err != nil {
			return nil, err
		}
		all = append(all, Server{address, strings.TrimSpace(s.Zone)})
	}
	all = sorted(all)
	// One URL in two zones is one server. The first zone counts.
	all = slices.CompactFunc(all, func(a, b Server) bool { return a.URL == b.URL })
	switch {
	case len(all) == 0:
		return nil, ErrEmpty
	case len(all) > MostServers:
		return nil, fmt.Errorf("%w: %d", ErrTooMany, len(all))
	}
	return all, nil
}

// schemes are those that the NATS client knows.
var schemes = []string{"nats", "tls", "ws", "wss"}

// normal is the address as the NATS client writes it.
func normal(address string) (string, error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") {
		address = "nats://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", &AddressError{Fix: "it is not a URL: use nats://host:port"}
	}
	if u.Path = strings.TrimSuffix(u.Path, "/"); u.Path+u.RawQuery+u.Fragment != "" {
		return "", &AddressError{Address: u.Redacted(), Fix: "a server has no path and no parameters: use nats://host:port"}
	}
	port := u.Port()
	if u.Hostname() == "" || !slices.Contains(schemes, u.Scheme) {
		return "", &AddressError{Address: u.Redacted(), Fix: "use nats://host:port, or tls, ws or wss"}
	}
	if port == "" {
		port = defaultPort
		if u.Scheme == "ws" {
			port = "80"
		} else if u.Scheme == "wss" {
			port = "443"
		}
	}
	if !validPort(port) {
		return "", &AddressError{Address: u.Redacted(), Fix: "the port is not one from 1 to 65535"}
	}
	if host := u.Hostname(); strings.Contains(host, ":") {
		if _, err := netip.ParseAddr(host); err != nil {
			return "", &AddressError{Address: u.Redacted(), Fix: "write an IPv6 address in brackets: nats://[::1]:4222"}
		}
	}
	host := u.Hostname()
	if !strings.Contains(host, "%") { // a zone of IPv6 has its own case
		host = strings.ToLower(host)
	}
	u.Host = net.JoinHostPort(host, port)
	return u.String(), nil
}

// address is the URL of a server at a host and a port.
func address(scheme, host string, port int) string {
	return fmt.Sprintf("%s://%s", cmp.Or(scheme, "nats"), net.JoinHostPort(host, fmt.Sprint(port)))
}

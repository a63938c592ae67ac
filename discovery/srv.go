package discovery

import (
	"cmp"
	"context"
	"net"
	"strings"
	"time"
)

// SRV is the list of the SRV records of a name in DNS. Their priorities and weights are not used:
// any of the servers may be taken. A record has no zone.
type SRV struct {
	// Name is the full name of the records, such as "_nats._tcp.example.org".
	Name string
	// Scheme of the URLs. Default "nats".
	Scheme string
	// Every is how often DNS is asked. Default 30 s, minimum 10 ms.
	Every time.Duration
	// Resolver, if set, is asked instead of net.DefaultResolver.
	Resolver *net.Resolver
}

// Next implements [Servers]. Errors: *[LookupError] and that of ctx.
func (s SRV) Next(ctx context.Context, last []Server) ([]Server, error) {
	if s.Name == "" {
		return nil, &ConfigError{"Name", "it is empty: name the SRV records, such as _nats._tcp.example.org"}
	}
	return poll(ctx, "srv "+s.Name, last, max(cmp.Or(s.Every, 30*time.Second), 10*time.Millisecond), s.look)
}

func (s SRV) look(ctx context.Context) (list []Server, err error) {
	_, records, err := cmp.Or(s.Resolver, net.DefaultResolver).LookupSRV(ctx, "", "", s.Name)
	if err != nil && len(records) == 0 {
		return nil, err
	}
	for _, r := range records {
		host := strings.TrimSuffix(r.Target, ".")
		if host == "" || r.Port == 0 {
			continue // "." says that there is no such service
		}
		list = append(list, Server{URL: address(s.Scheme, host, int(r.Port))})
	}
	return list, nil
}

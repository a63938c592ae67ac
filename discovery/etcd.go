package discovery

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Etcd is the list of the values below a prefix in etcd: each is one server, its URL and, after a
// space, its zone, as on a line of [File]. A process that registers itself binds its key to a
// lease, so that the key goes with it.
//
// It talks to the JSON gateway of etcd 3.4 or later: one reading of all keys, and a watch that says
// when to read again. A revision that was compacted leads to another reading.
type Etcd struct {
	// Endpoints are the members of one cluster, such as "http://127.0.0.1:2379", which is the
	// default. They are tried in any order until one answers.
	Endpoints []string
	// Prefix of the keys, such as "/nats/". It is taken as it is: "/nats" includes "/nats-old/a".
	Prefix string
	// Login, if set, is called for the user and the password before each reading.
	Login func() (user, password string, err error)
	// Wait is how long one watch may last until all is read again. Default 5 min, minimum 1 s.
	Wait time.Duration
	// Client, if set, makes the requests. It needs no timeout.
	Client *http.Client
}

// Next implements [Servers]. Errors: *[LookupError], *[ConfigError], and that of ctx.
func (e Etcd) Next(ctx context.Context, last []Server) ([]Server, error) {
	if e.Prefix == "" {
		return nil, &ConfigError{"Prefix", "it is empty: name that of the keys of the NATS servers, such as /nats/"}
	}
	all, err := e.endpoints()
	if err != nil {
		return nil, err
	}
	return watched(ctx, "etcd "+hosts(all)+e.Prefix, last, e.Wait, &cluster{e, all, nil})
}

// cluster is the members of one cluster.
type cluster struct {
	Etcd
	all  []*url.URL
	read *gateway // that of the member that was read
}

// look reads the list from one of the members. The time for one question is shared by all.
func (c *cluster) look(ctx context.Context) ([]Server, error) {
	var trouble error
	each := max(within/time.Duration(len(c.all)), time.Second)
	for _, i := range rand.Perm(len(c.all)) {
		c.read = &gateway{at: c.all[i], client: c.Client, prefix: c.Prefix}
		list, err := c.lookAt(ctx, each)
		if err == nil || ctx.Err() != nil {
			return list, err
		}
		// An answer that another member would give too counts more than a member that is not there.
		if trouble == nil || !unreachable(err) {
			trouble = err
		}
	}
	return nil, trouble
}

func (c *cluster) lookAt(ctx context.Context, limit time.Duration) ([]Server, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := c.read.login(ctx, c.Login); err != nil {
		return nil, err
	}
	return c.read.read(ctx)
}

func (c *cluster) watch(ctx context.Context) error { return c.read.watch(ctx) }

// unreachable reports whether an error is of the way to a service, or of a service that is down.
func unreachable(err error) bool {
	answer, is := errors.AsType[*ResponseError](err)
	return is && answer.Status >= 500 || errors.As(err, new(*url.Error)) || errors.Is(err, context.DeadlineExceeded)
}

func (e Etcd) endpoints() (all []*url.URL, err error) {
	names := e.Endpoints
	if len(names) == 0 {
		names = []string{"http://127.0.0.1:2379"}
	}
	for _, name := range names {
		u, err := base(name)
		if err != nil {
			return nil, &ConfigError{"Endpoints", "one cannot be used: write http://host:port or https://host:port"}
		}
		all = append(all, u)
	}
	return all, nil
}

// hosts are those of URLs, for people.
func hosts(all []*url.URL) string {
	names := make([]string, len(all))
	for i, u := range all {
		names[i] = u.Host
	}
	return strings.Join(names, ",")
}

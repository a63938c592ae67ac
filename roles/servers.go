package roles

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/discovery"
)

// absence is how long the server of a connection must have left the list before the connection
// moves. A random part of a TTL comes on top, so that a fleet does not move at one moment.
const absence = 30 * time.Second

// servers makes the connection follow Config.Servers. A server of the list is preferred, and among
// those one of the own zone. Servers that worked before are tried after them, as long as no server
// of the list has answered: a list may be wrong.
type servers struct {
	source  discovery.Servers
	zone    string
	pace    time.Duration // between two rounds of attempts
	jitter  time.Duration // comes on top of absence
	report  func(doing string, err error)
	stop    context.CancelFunc
	running sync.WaitGroup
	first   chan struct{} // closed when there is a list

	mu     sync.Mutex // never held across a call of nats.go, which calls next with its own lock held
	nc     *nats.Conn
	listed []discovery.Server
	proven []discovery.Server // the last list of which a server has answered
	chosen string             // the server of the last attempt
	tried  map[string]int     // attempts since the last connection, by server
}

// followServers begins to follow. The caller calls end.
func followServers(ctx context.Context, source discovery.Servers, zone string,
	heartbeat, ttl time.Duration, report func(doing string, err error),
) *servers {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx)) // it is needed until the session is closed
	s := &servers{
		source: source, zone: zone, pace: min(heartbeat, time.Second), jitter: ttl,
		report: report, stop: stop, first: make(chan struct{}), tried: map[string]int{},
	}
	s.running.Go(func() {
		// The error is that of ctx.
		_ = discovery.Follow(ctx, s.source, discovery.FollowOptions{
			Changed: s.changed, Failed: func(err error) { report("look up the servers", err) },
		})
	})
	s.running.Go(func() { s.watch(ctx) })
	return s
}

// end stops following, and waits for it.
func (s *servers) end() {
	s.stop()
	s.running.Wait()
}

// changed takes a new list.
func (s *servers) changed(list []discovery.Server) {
	s.mu.Lock()
	fresh := s.listed == nil
	s.listed = list
	s.mu.Unlock()
	if fresh {
		close(s.first)
	}
	s.apply()
}

// apply gives the connection the servers that it may use.
func (s *servers) apply() {
	s.mu.Lock()
	nc := s.nc
	s.mu.Unlock()
	if nc == nil {
		return
	}
	ours := nc.ConnectedUrl()
	s.mu.Lock()
	if contains(s.listed, ours) {
		s.proven = s.listed
	}
	all := s.order(s.listed)
	for _, old := range s.order(s.proven) {
		if !slices.Contains(all, old) {
			all = append(all, old)
		}
	}
	s.mu.Unlock()
	if ours != "" && !slices.Contains(all, ours) {
		all = append(all, ours) // else the connection would not know where it is
	}
	if err := nc.SetServerPool(all); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
		s.report("use the list of servers", fmt.Errorf("%w: give all servers one kind of scheme", err))
	}
}

// order is the URLs of a list, at random, those of the own zone first. s.mu is held.
func (s *servers) order(list []discovery.Server) (urls []string) {
	list = slices.Clone(list)
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	slices.SortStableFunc(list, func(a, b discovery.Server) int { return cmp.Compare(s.distance(a), s.distance(b)) })
	for _, server := range list {
		urls = append(urls, server.URL)
	}
	return urls
}

// distance is 0 for a server of the own zone, else 1.
func (s *servers) distance(server discovery.Server) int {
	if s.zone != "" && server.Zone == s.zone {
		return 0
	}
	return 1
}

// urls is the present list as nats.Connect takes it.
func (s *servers) urls() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.order(s.listed), ",")
}

// follow is the connection that follows from now on.
func (s *servers) follow(nc *nats.Conn) {
	connected := nc.ConnectedUrl()
	s.mu.Lock()
	s.nc = nc
	s.proven = s.listed
	if s.chosen == "" {
		s.chosen = connected
	}
	s.mu.Unlock()
	s.apply() // the list may have changed since
}

// next is the server of the next attempt, and the pause before it. nats.go calls it with its lock
// held.
func (s *servers) next(pool []nats.Server, _ nats.ServerInfo) (*nats.Server, time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := map[string]bool{}
	for _, server := range pool {
		name := server.URL.String()
		known[name] = true
		if name == s.chosen && server.Reconnects == 0 { // that attempt has worked, and is lost since
			clear(s.tried)
			s.tried[name] = 1
		}
	}
	distance := map[string]int{}
	for _, server := range s.listed {
		distance[server.URL] = s.distance(server)
	}
	best, most := -1, 0
	for _, i := range rand.Perm(len(pool)) {
		name := pool[i].URL.String()
		most = max(most, s.tried[name])
		if best < 0 || s.before(name, pool[best].URL.String(), distance) {
			best = i
		}
	}
	if best < 0 {
		return nil, 0
	}
	s.chosen = pool[best].URL.String()
	wait := time.Duration(0)
	if s.tried[s.chosen] > 0 && s.tried[s.chosen] == most { // all were tried
		wait = s.pace + rand.N(s.pace/2+1)
	}
	s.tried[s.chosen]++
	for name := range s.tried {
		if !known[name] {
			delete(s.tried, name)
		}
	}
	return &pool[best], wait
}

// before reports whether a is tried before b. s.mu is held.
func (s *servers) before(a, b string, distance map[string]int) bool {
	rank := func(name string) int {
		if d, listed := distance[name]; listed {
			return d
		}
		return 2 // one that was listed before, or that another server has announced
	}
	return cmp.Or(cmp.Compare(s.tried[a], s.tried[b]), cmp.Compare(rank(a), rank(b))) < 0
}

func contains(list []discovery.Server, url string) bool {
	return slices.ContainsFunc(list, func(s discovery.Server) bool { return s.URL == url })
}

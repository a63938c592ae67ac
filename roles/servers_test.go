package roles_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/discovery"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// hosts are the addresses of one real server, each with a path of its own.
type hosts struct {
	mu    sync.Mutex
	links map[string]*natsrun.Link
	last  string // the host of the last connection
}

func newHosts(s *natsrun.Server, n int) *hosts {
	h := &hosts{links: map[string]*natsrun.Link{}}
	for i := range n {
		h.links[fmt.Sprintf("n%d:4222", i)] = s.Link()
	}
	return h
}

// Dial connects to a host that is there.
func (h *hosts) Dial(network, address string) (net.Conn, error) {
	h.mu.Lock()
	link := h.links[address]
	h.mu.Unlock()
	if link == nil {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	conn, err := link.Dial(network, address)
	if err == nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.last = strings.TrimSuffix(address, ":4222")
	}
	return conn, err
}

// at is the host of the last connection.
func (h *hosts) at() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

// kill takes a host away.
func (h *hosts) kill(host string) {
	h.mu.Lock()
	link := h.links[host+":4222"]
	h.mu.Unlock()
	link.Refuse(true)
	link.Reset()
}

// lookup is a source that a test steers.
type lookup struct {
	answers chan func() ([]discovery.Server, error)
}

func newLookup() *lookup {
	return &lookup{make(chan func() ([]discovery.Server, error))}
}

func (l *lookup) Next(ctx context.Context, _ []discovery.Server) ([]discovery.Server, error) {
	select {
	case answer := <-l.answers:
		return answer()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// finds lets the look-up find these hosts, each with its zone after a slash.
func (l *lookup) finds(all ...string) {
	var list []discovery.Server
	for _, s := range all {
		host, zone, _ := strings.Cut(s, "/")
		list = append(list, discovery.Server{URL: "nats://" + host + ":4222", Zone: zone})
	}
	l.answers <- func() ([]discovery.Server, error) { return list, nil }
}

func (l *lookup) fails(err error) {
	l.answers <- func() ([]discovery.Server, error) { return nil, err }
}

// found makes the manager follow the look-up.
func found(h *hosts, l *lookup, zone string) func(*roles.Config) {
	return func(c *roles.Config) {
		c.URL, c.Servers, c.Zone = "", l, zone
		c.NATSOptions = []nats.Option{nats.SetCustomDialer(h), nats.SkipHostLookup()} // no DNS in a bubble
	}
}

// fifty are roles with one work.
func fifty(w *work) (all []roles.Role) {
	for i := range 50 {
		all = append(all, w.role(fmt.Sprintf("r%d", i)))
	}
	return all
}

// keepsTerms replaces all servers, and fails the test if one of n terms ends.
func keepsTerms(t *testing.T, w *work, n int, replace func()) {
	t.Helper()
	for range n {
		receive(t, "a role is led", w.began)
	}
	replace()
	none(t, "a term has ended", w.ended)
	none(t, "a term has begun", w.began)
}

// TestServersReplacedOneByOne: while all servers are replaced, those that are killed at once
// included, no term is lost.
func TestServersReplacedOneByOne(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h, l, w := newHosts(s, 9), newLookup(), newWork()
		a := start(t, s, "a", fifty(w), found(h, l, ""))
		list := []string{"n0", "n1", "n2"}
		l.finds(list...)
		keepsTerms(t, w, 50, func() {
			for i := 3; i < 9; i++ {
				old := list[0]
				list = append(slices.Clone(list[1:]), fmt.Sprintf("n%d", i))
				l.finds(list...)
				was := h.at()
				if i%2 == 0 {
					h.kill(old) // as it leaves the list
				}
				time.Sleep(29 * time.Second)
				if i%2 == 1 && h.at() != was {
					t.Errorf("the connection has moved from %s to %s within 29 s", was, h.at())
				}
				time.Sleep(6 * time.Second)
				if !slices.Contains(list, h.at()) {
					t.Errorf("connected to %s, want one of %v", h.at(), list)
				}
				h.kill(old)
			}
		})
		if err := a.end(); err != nil {
			t.Error(err)
		}
	})
}

// TestLookUpsThatFail: a look-up that fails, is empty, hangs or names servers that are not there
// changes nothing. The last list stays, and the trouble is told once.
func TestLookUpsThatFail(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h, l, w := newHosts(s, 2), newLookup(), newWork()
		var mu sync.Mutex
		var faults []string
		a := start(t, s, "a", one(w.role("r")), found(h, l, ""), func(c *roles.Config) {
			c.Sinks = append(c.Sinks, event.SinkFunc(func(e event.Event) {
				if f, is := e.(event.Fault); is {
					mu.Lock()
					defer mu.Unlock()
					faults = append(faults, f.Doing+": "+f.Err.Error())
				}
			}))
		})
		down := errors.New("the registry is down")
		l.fails(down) // before there is any list
		a.logged("look up the servers failed")
		l.finds("n0", "n1")
		receive(t, "a leads", w.began)
		was := h.at()
		for range 3 {
			l.fails(down)
			l.finds()
		}
		l.fails(down)
		time.Sleep(10 * time.Minute) // it hangs
		l.finds("dead", "gone")
		time.Sleep(10 * time.Minute)
		if h.at() != was {
			t.Errorf("the connection has moved from %s to %s", was, h.at())
		}
		h.kill(was)
		time.Sleep(time.Minute)
		if h.at() == was {
			t.Errorf("connected to %s, which is gone", was)
		}
		none(t, "a term has ended", w.ended)
		if err := a.end(); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		var lookups, moves int
		for _, f := range faults {
			switch {
			case strings.HasPrefix(f, "look up the servers: "):
				lookups++
			case strings.HasPrefix(f, "move to a server of the list: "):
				moves++
			}
		}
		if lookups != 7 || moves != 1 && moves != 2 { // each change of the reason; again after the reconnect
			t.Errorf("%d look-ups and %d moves: %q", lookups, moves, faults)
		}
	})
}

// TestOwnZoneFirst: a server of the own zone is taken if one answers, else another.
func TestOwnZoneFirst(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h, l, w := newHosts(s, 6), newLookup(), newWork()
		start(t, s, "a", one(w.role("r")), found(h, l, "west"))
		all := []string{"n0/east", "n1/west", "n2/east", "n3/west", "n4", "n5/east"}
		l.finds(all...)
		receive(t, "a leads", w.began)
		for i, west := range []bool{true, true, false, false} {
			if at := h.at(); (at == "n1" || at == "n3") != west {
				t.Errorf("connection %d is to %s", i, at)
			}
			h.kill(h.at())
			time.Sleep(time.Minute)
		}
		none(t, "a term has ended", w.ended)
	})
}

// TestNoListYet: a manager that waits for the first list ends cleanly.
func TestNoListYet(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		h, w := newHosts(s, 1), newWork()
		a := start(t, s, "a", one(w.role("r")), found(h, newLookup(), ""))
		time.Sleep(time.Hour)
		if err := a.end(); err != nil {
			t.Error(err)
		}
	})
}

func TestServersAlone(t *testing.T) {
	source := discovery.Static{{URL: "nats://a"}}
	role := roles.Role{Name: "r", Lead: newWork().lead}
	for want, cfg := range map[string]roles.Config{
		"Servers: a shared Conn":        {Conn: &nats.Conn{}, Servers: source},
		"Servers: both URL and Servers": {URL: "nats://a", Servers: source},
		"NATSOptions: nats.ReconnectToServer": {Servers: source, NATSOptions: []nats.Option{
			nats.ReconnectToServer(func([]nats.Server, nats.ServerInfo) (*nats.Server, time.Duration) { return nil, 0 }),
		}},
		"NATSOptions: nats.NoEcho": {Servers: source, NATSOptions: []nats.Option{nats.NoEcho()}},
	} {
		cfg.Bucket = "roles"
		_, err := roles.New(cfg, role)
		if fault := (*roles.ConfigError)(nil); !errors.As(err, &fault) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := roles.New(roles.Config{Servers: source, Bucket: "roles"}, role); err != nil {
		t.Error(err)
	}
}

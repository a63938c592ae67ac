package lookup

import (
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	client "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/rolemanager/rolemanager/discovery"
)

// served is a cluster of one, which can be stopped and started again where it was.
type served struct {
	t          *testing.T
	dir        string
	host, peer string
	etcd       *embed.Etcd
}

func serve(t *testing.T) *served {
	t.Helper()
	s := &served{t: t, dir: t.TempDir()}
	for _, at := range []*string{&s.host, &s.peer} {
		l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free, and will be in a moment
		if err != nil {
			t.Fatal(err)
		}
		*at = l.Addr().String()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { s.etcd.Close() })
	s.start()
	return s
}

func (s *served) start() {
	s.t.Helper()
	cfg := embed.NewConfig()
	cfg.Dir, cfg.LogLevel, cfg.UnsafeNoFsync = s.dir, "fatal", true
	one := func(at string) []url.URL { return []url.URL{{Scheme: "http", Host: at}} }
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = one(s.host), one(s.host)
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = one(s.peer), one(s.peer)
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		s.t.Fatal(err)
	}
	s.etcd = etcd
	select {
	case <-etcd.Server.ReadyNotify():
	case err := <-etcd.Err():
		s.t.Fatal(err)
	}
}

// client is a client of etcd, closed with the test.
func (s *served) client(c client.Config) *client.Client {
	s.t.Helper()
	c.Endpoints = []string{s.host}
	made, err := client.New(c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = made.Close() }) // its server may be stopped
	return made
}

// followed is what Follow has told.
type followed struct {
	lists chan []discovery.Server
	mu    sync.Mutex
	told  []string
}

func follow(t *testing.T, source discovery.Servers) *followed {
	t.Helper()
	f := &followed{lists: make(chan []discovery.Server)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = discovery.Follow(ctx, source, discovery.FollowOptions{ // the error is that of ctx
			Changed: func(list []discovery.Server) {
				select {
				case f.lists <- list:
				case <-ctx.Done():
				}
			},
			Failed: func(err error) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.told = append(f.told, err.Error())
			},
			MaxWait: time.Second,
		})
	}()
	t.Cleanup(func() {
		stop()
		<-ended
	})
	return f
}

// is fails the test if the next list is another.
func (f *followed) is(t *testing.T, want ...discovery.Server) {
	t.Helper()
	select {
	case got := <-f.lists:
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	case <-time.After(time.Minute):
		t.Fatalf("no list: %q", f.tellings())
	}
}

func (f *followed) tellings() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.told)
}

// TestEtcd: the list follows the keys of a real etcd: through changes, a lease that ends, a
// compaction, a restart, and the time when it demands a user.
func TestEtcd(t *testing.T) {
	s := serve(t)
	c := s.client(client.Config{})
	put := func(c *client.Client, key, value string, o ...client.OpOption) {
		t.Helper()
		if _, err := c.Put(t.Context(), key, value, o...); err != nil {
			t.Fatal(err)
		}
	}
	a, b := discovery.Server{URL: "nats://a:4222", Zone: "west"}, discovery.Server{URL: "tls://b:4223"}
	put(c, "/nats/a", "a west")
	put(c, "/nats-old/x", "x")
	source, err := discovery.Parse("etcd://127.0.0.1:1," + s.host + "/nats")
	if err != nil {
		t.Fatal(err)
	}
	f := follow(t, source)
	f.is(t, a)

	lease, err := c.Grant(t.Context(), 60)
	if err != nil {
		t.Fatal(err)
	}
	put(c, "/nats/b", "tls://b:4223", client.WithLease(lease.ID))
	f.is(t, a, b)
	if _, err := c.Revoke(t.Context(), lease.ID); err != nil {
		t.Fatal(err)
	}
	f.is(t, a)

	now, err := c.Get(t.Context(), "/other")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compact(t.Context(), now.Header.Revision); err != nil {
		t.Fatal(err)
	}
	put(c, "/nats/b", "tls://b:4223")
	f.is(t, a, b)

	s.etcd.Close()
	s.start()
	put(c, "/nats/c", "")
	put(c, "/nats/a", "c")
	f.is(t, discovery.Server{URL: "nats://c:4222"}, b)
	if told := f.tellings(); len(told) > 3 {
		t.Errorf("a restart has told %d times: %q", len(told), told)
	}

	for _, enable := range []func() error{
		func() error { _, err := c.UserAdd(t.Context(), "root", "a-password"); return err },
		func() error { _, err := c.UserGrantRole(t.Context(), "root", "root"); return err },
		func() error { _, err := c.AuthEnable(t.Context()); return err },
	} {
		if err := enable(); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(file, []byte("a-password"), 0o600); err != nil {
		t.Fatal(err)
	}
	put(s.client(client.Config{Username: "root", Password: "a-password"}), "/nats/a", "d")
	refused, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = source.Next(refused, nil)
	if _, is := errors.AsType[*discovery.ResponseError](err); !is || !strings.Contains(err.Error(), "ETCDCTL_USER") {
		t.Errorf("without a user: %v", err)
	}
	source, err = discovery.Parse("etcd://" + s.host + "/nats?user=root&passfile=" + file)
	if err != nil {
		t.Fatal(err)
	}
	f = follow(t, source)
	f.is(t, discovery.Server{URL: "nats://d:4222"}, b)
	put(s.client(client.Config{Username: "root", Password: "a-password"}), "/nats/b", "d")
	f.is(t, discovery.Server{URL: "nats://d:4222"})
	if told := f.tellings(); len(told) > 0 {
		t.Errorf("told %q", told)
	}
}

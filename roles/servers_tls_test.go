package roles_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/discovery"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
	"github.com/rolemanager/rolemanager/roles"
)

// fleet is a cluster whose servers demand TLS. A file and a Consul say where they are.
type fleet struct {
	*natsrun.Cluster
	t    *testing.T
	ca   *authority
	file string

	mu    sync.Mutex
	paths []*natsrun.Proxy // to each server, under its present address
	index int              // how often the list has changed
}

func newFleet(t *testing.T) *fleet {
	f := &fleet{t: t, ca: newAuthority(t), file: filepath.Join(t.TempDir(), "servers")}
	f.Cluster = natstest.Cluster(t, func(o *natsrun.ClusterOptions) {
		o.Configure = func(_ int, so *server.Options) {
			so.TLS, so.TLSTimeout, so.TLSConfig = true, 30, f.ca.server("127.0.0.1", time.Now().Add(time.Hour))
			so.ClientAdvertise, so.Cluster.NoAdvertise = "", true // the list alone says where they are
		}
	})
	for i := range f.Size() {
		f.paths = append(f.paths, f.path(i))
	}
	f.announce()
	return f
}

// path is a new address of a server.
func (f *fleet) path(i int) *natsrun.Proxy {
	f.t.Helper()
	p, err := natsrun.NewProxy(strings.TrimPrefix(f.Server(i).URL(), "nats://"))
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(p.Close)
	return p
}

// announce lets the sources find the present addresses.
func (f *fleet) announce() {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index++
	var text strings.Builder
	for _, p := range f.paths {
		fmt.Fprintf(&text, "tls://%s\n", p.Addr())
	}
	fresh := f.file + ".new"
	if err := errors.Join(os.WriteFile(fresh, []byte(text.String()), 0o600), os.Rename(fresh, f.file)); err != nil {
		f.t.Fatal(err)
	}
}

// ServeHTTP is the answer of a Consul that does not block.
func (f *fleet) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, p := range f.paths {
		host, port, _ := strings.Cut(p.Addr(), ":")
		all = append(all, fmt.Sprintf(`{"Service":{"Address":%q,"Port":%s}}`, host, port))
	}
	w.Header().Set("X-Consul-Index", fmt.Sprint(f.index))
	_, _ = fmt.Fprintf(w, "[%s]", strings.Join(all, ","))
}

// whole waits until all servers have their replicas of all streams.
func (f *fleet) whole() {
	f.t.Helper()
	ctx := f.bound()
	if err := f.WaitReady(ctx); err != nil {
		f.t.Fatal(err)
	}
	nc, err := f.Connect(nats.RootCAs(f.ca.file))
	if err != nil {
		f.t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		f.t.Fatal(err)
	}
	names := js.StreamNames(ctx)
	for stream := range names.Name() {
		if err := f.WaitStream(ctx, stream); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := names.Err(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fleet) bound() context.Context {
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	f.t.Cleanup(cancel)
	return ctx
}

// replace replaces a server by one at another address, which has its files.
func (f *fleet) replace(i int) {
	f.t.Helper()
	f.whole()
	f.mu.Lock()
	old := f.paths[i]
	f.mu.Unlock()
	fresh := f.path(i)
	f.mu.Lock()
	f.paths[i] = fresh
	f.mu.Unlock()
	f.announce()
	f.Stop(i)
	old.Close()
	if err := f.Restart(i); err != nil {
		f.t.Fatal(err)
	}
	f.whole()
}

// TestServersReplacedWithTLS: each server of a cluster with TLS is replaced by one at another
// address and with another certificate. One manager learns of that from a file, the other from
// Consul. No term is lost, and no task.
func TestServersReplacedWithTLS(t *testing.T) {
	thorough.Only(t, "three servers are replaced one after the other")
	f, w := newFleet(t), newWork()
	consul := httptest.NewServer(f)
	defer consul.Close()
	double := assign.NewKind[int, int]("double.v1", assign.MaxAttempts(5))
	var all []*node
	var jobs *assign.Assigner
	for id, source := range map[string]discovery.Servers{
		"a": discovery.File{Path: f.file, Every: 100 * time.Millisecond},
		"b": discovery.Consul{Address: consul.URL, Service: "nats", Scheme: "tls"},
	} {
		m, err := roles.New(roles.Config{
			Servers: source, NATSOptions: []nats.Option{nats.RootCAs(f.ca.file)}, InstanceID: id,
			Bucket: "roles", BucketAutoCreate: true, Replicas: 3, TTL: 30 * time.Second, // for a busy machine
		}, fifty(w)[:20]...)
		if err != nil {
			t.Fatal(err)
		}
		a, err := assign.New(m.Session(), assign.Config{
			Namespace: "jobs", Role: "jobs", StreamAutoCreate: true, Replicas: 3,
		})
		if err != nil {
			t.Fatal(err)
		}
		jobs = a
		if err := assign.Handle(a, double, func(_ context.Context, n *assign.Task[int]) (int, error) {
			return 2 * n.Input, nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := m.Add(roles.Role{Name: "jobs", Lead: func(ctx context.Context, term *election.Term) error {
			w.began <- term
			defer func() { w.ended <- context.Cause(ctx) }()
			return a.Lead(ctx, term)
		}}); err != nil {
			t.Fatal(err)
		}
		n := &node{Manager: m, t: t}
		n.run()
		all = append(all, n)
	}
	submitting, stop := context.WithCancel(t.Context())
	var pending []*assign.Pending[int]
	var accepted atomic.Int32
	submitted := make(chan struct{})
	go func() {
		defer close(submitted)
		for n := 0; submitting.Err() == nil; n++ {
			p, err := assign.Submit(submitting, jobs, double, n)
			if err == nil {
				pending = append(pending, p)
				accepted.Add(1)
			}
			select {
			case <-submitting.Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	keepsTerms(t, w, 21, func() {
		for i := range f.Size() {
			f.replace(i)
			before := accepted.Load()
			natstest.Eventually(t, "tasks are accepted", 2*time.Minute, func() (bool, string) {
				n := accepted.Load() - before
				return n > 5, fmt.Sprint(n)
			})
		}
	})
	stop()
	<-submitted
	waiting := bound(t)
	for _, p := range pending {
		if _, err := p.Wait(waiting); err != nil {
			t.Fatalf("a task: %v", err)
		}
	}
	t.Logf("%d tasks", len(pending))
	for _, n := range all {
		if err := n.end(); err != nil {
			t.Error(err)
		}
	}
}

// TestCertificates: that a certificate is not accepted is told with the fix, in the log and as an
// error that has a type.
func TestCertificates(t *testing.T) {
	known, unknown := newAuthority(t), newAuthority(t)
	hour := time.Now().Add(time.Hour)
	for name, is := range map[string]struct {
		config *tls.Config
		fix    string
	}{
		"wrong authority": {unknown.server("127.0.0.1", hour), "give the authority that has signed it, by nats.RootCAs"},
		"wrong name":      {known.server("n.example.org", hour), "name the server as its certificate does"},
		"expired":         {known.server("127.0.0.1", time.Now().Add(-time.Hour)), "give the server another certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Server(t, natstest.Listen, func(o *natsrun.Options) {
				o.Configure = func(so *server.Options) { so.TLS, so.TLSConfig = true, is.config }
			})
			told := make(chan error, 1)
			a := start(t, s, "a", one(newWork().role("r")), func(c *roles.Config) {
				c.NATSOptions = []nats.Option{nats.RootCAs(known.file)}
				c.Sinks = []event.Sink{event.SinkFunc(func(e event.Event) {
					if f, is := e.(event.Fault); is {
						select {
						case told <- f.Err:
						default:
						}
					}
				})}
			})
			err := receive(t, "a fault", told)
			if fault, is := errors.AsType[*roles.CertificateError](err); !is || !strings.Contains(err.Error(), fault.Fix) {
				t.Errorf("told %v", err)
			}
			a.logged(is.fix)
		})
	}
}

// disguised is a host that greets as a NATS server and has a certificate of its own.
type disguised struct {
	*hosts
	config *tls.Config
	dials  atomic.Int32 // of real servers
}

func (d *disguised) Dial(network, address string) (net.Conn, error) {
	if address != "stranger:4222" {
		d.dials.Add(1)
		return d.hosts.Dial(network, address)
	}
	ours, theirs := net.Pipe()
	greets := eager{theirs, make(chan []byte, 10)} // few writes, as into a socket
	go func() {
		for text := range greets.out {
			_, _ = theirs.Write(text) // the other end may be closed
		}
		_ = theirs.Close()
	}()
	go func() {
		defer close(greets.out)
		if _, err := io.WriteString(greets, "INFO {\"tls_required\":true}\r\n"); err == nil {
			_ = tls.Server(greets, d.config).Handshake() // it fails
		}
	}()
	return ours, nil
}

// eager is a connection whose writes do not wait for the reader.
type eager struct {
	net.Conn
	out chan []byte
}

func (e eager) Write(p []byte) (int, error) {
	e.out <- bytes.Clone(p)
	return len(p), nil
}

// TestStrangersAreNotFollowed: a list of servers whose certificates are not accepted changes
// nothing. The connection is not even tried there.
func TestStrangersAreNotFollowed(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		d := &disguised{hosts: newHosts(s, 1)}
		d.config = newAuthority(t).server("stranger", time.Now().Add(1000*time.Hour))
		l, w := newLookup(), newWork()
		told := make(chan error, 10)
		a := start(t, s, "a", one(w.role("r")), found(d.hosts, l, ""), func(c *roles.Config) {
			c.NATSOptions[0] = nats.SetCustomDialer(d)
			c.Sinks = []event.Sink{event.SinkFunc(func(e event.Event) {
				if f, is := e.(event.Fault); is {
					told <- f.Err
				}
			})}
		})
		l.finds("n0")
		receive(t, "a leads", w.began)
		before := d.dials.Load()
		l.finds("stranger")
		time.Sleep(10 * time.Minute)
		if n := d.dials.Load() - before; n > 0 {
			t.Errorf("connected again %d times", n)
		}
		err := receive(t, "the list is not followed", told)
		if fault, is := errors.AsType[*roles.CertificateError](err); !is || !strings.Contains(fault.Fix, "nats.RootCAs") {
			t.Errorf("told %v", err)
		}
		none(t, "another fault", told)
		none(t, "a term has ended", w.ended)
		if err := a.end(); err != nil {
			t.Error(err)
		}
	})
}

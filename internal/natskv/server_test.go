package natskv

import (
	"context"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// together is how many of the tests on three servers run side by side: they wait for elections.
const together = 3

func TestMain(m *testing.M) {
	natstest.Together(together)
	natstest.Halves(m)
}

// users are the accounts of a server with permissions, by name.
type users map[string]*server.Permissions

// startServer runs a JetStream server on a loopback port until the test ends.
func startServer(tb testing.TB, who users) *server.Server {
	tb.Helper()
	return startServerIn(tb, tb.TempDir(), who)
}

func startServerIn(tb testing.TB, dir string, who users) *server.Server {
	tb.Helper()
	opts := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, StoreDir: dir, JetStream: true, NoSigs: true, NoLog: true,
	}
	for name, p := range who {
		opts.Users = append(opts.Users, &server.User{Username: name, Password: "x", Permissions: p})
	}
	s, err := server.NewServer(opts)
	if err != nil {
		tb.Fatalf("make server: %v", err)
	}
	s.Start()
	tb.Cleanup(func() { shutdown(s) })
	if !s.ReadyForConnections(time.Minute) {
		tb.Fatal("the server did not come up")
	}
	return s
}

func shutdown(s *server.Server) {
	s.Shutdown()
	s.WaitForShutdown()
}

func port(s *server.Server) int { return s.Addr().(*net.TCPAddr).Port }

func connect(tb testing.TB, url string, opts ...nats.Option) *nats.Conn {
	tb.Helper()
	// The default error handler prints, and many of these errors are intended.
	opts = append([]nats.Option{nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {})}, opts...)
	nc, err := nats.Connect(url, opts...)
	if err != nil {
		tb.Fatalf("connect to %s: %v", url, err)
	}
	tb.Cleanup(nc.Close)
	return nc
}

// inBubble runs a test in virtual time, with a bucket and a connection along a path that can be
// broken. All checks of how long something takes run there, because in real time a machine may be
// arbitrarily slow.
func inBubble(t *testing.T, run func(t *testing.T, b *Bucket, nc *nats.Conn, link *natsrun.Link)) {
	t.Helper()
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		nc := natstest.Connect(t, s, link.Options()...)
		b, err := Create(t.Context(), natstest.Connect(t, s), Config{Bucket: "b"})
		if err != nil {
			t.Fatalf("create: %v", err)
		}
		run(t, b, nc, link)
	})
}

// newBucket runs a server and makes a bucket on it.
func newBucket(tb testing.TB) (*server.Server, *nats.Conn, *Bucket) {
	tb.Helper()
	s := startServer(tb, nil)
	nc := connect(tb, s.ClientURL())
	b, err := Create(tb.Context(), nc, Config{Bucket: "b"})
	if err != nil {
		tb.Fatalf("create: %v", err)
	}
	return s, nc, b
}

func newWriter(tb testing.TB, nc *nats.Conn, b *Bucket) *Writer {
	tb.Helper()
	w, err := NewWriter(nc, b)
	if err != nil {
		tb.Fatalf("new writer: %v", err)
	}
	tb.Cleanup(w.Close)
	return w
}

// write submits a write and waits. Its own patience is far beyond any timeout in these tests.
func write(tb testing.TB, w *Writer, op Write, timeout time.Duration) Result {
	tb.Helper()
	done := make(chan Result, 1)
	w.Submit(op, timeout, func(r Result) { done <- r })
	select {
	case r := <-done:
		return r
	case <-time.After(time.Minute):
		tb.Fatalf("write of %s was never ended", op.Key)
		return Result{}
	}
}

func mustWin(tb testing.TB, w *Writer, op Write) uint64 {
	tb.Helper()
	r := write(tb, w, op, 10*time.Second)
	if r.Outcome != Won {
		tb.Fatalf("write of %s: %v, %v; want won", op.Key, r.Outcome, r.Err)
	}
	return r.Revision
}

// next reads one update of a watch.
func next(tb testing.TB, w *Watch) Update {
	tb.Helper()
	select {
	case u, ok := <-w.C():
		if !ok {
			tb.Fatalf("watch ended: %v", w.Err())
		}
		return u
	case <-time.After(time.Minute):
		tb.Fatal("no update from the watch")
		return Update{}
	}
}

// ended waits for the end of a watch and returns its error.
func ended(tb testing.TB, w *Watch) error {
	tb.Helper()
	deadline := time.After(time.Minute)
	for {
		select {
		case _, ok := <-w.C():
			if !ok {
				return w.Err()
			}
		case <-deadline:
			tb.Fatal("the watch did not end")
		}
	}
}

func eventually(tb testing.TB, what string, cond func() bool) {
	tb.Helper()
	deadline := time.Now().Add(2 * time.Minute) // a test's patience, which is not a promise
	for !cond() {
		if time.Now().After(deadline) {
			tb.Fatalf("%s: not within two minutes", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// link is a TCP proxy before a server, whose two directions can be stopped.
type link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	cond  *sync.Cond
	held  bool // nothing is read from the client, so its socket fills up
	mute  bool // the server's output is thrown away
	lost  []byte
	over  bool
	conns []net.Conn
	wg    sync.WaitGroup
}

func newLink(tb testing.TB, s *server.Server) *link {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatalf("listen: %v", err)
	}
	k := &link{listener: l, target: net.JoinHostPort("127.0.0.1", strconv.Itoa(port(s)))}
	k.cond = sync.NewCond(&k.mu)
	k.wg.Go(k.accept)
	tb.Cleanup(k.close)
	return k
}

func (k *link) url() string { return "nats://" + k.listener.Addr().String() }

func (k *link) set(change func()) {
	k.mu.Lock()
	change()
	k.mu.Unlock()
	k.cond.Broadcast()
}

func (k *link) close() {
	_ = k.listener.Close()
	k.set(func() { k.over = true })
	k.cut()
	k.wg.Wait()
}

// cut breaks all connections.
func (k *link) cut() {
	k.mu.Lock()
	conns := k.conns
	k.conns = nil
	k.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
	}
}

func (k *link) accept() {
	for {
		client, err := k.listener.Accept()
		if err != nil {
			return
		}
		srv, err := net.Dial("tcp", k.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		k.set(func() { k.conns = append(k.conns, client, srv) })
		k.wg.Go(func() { k.pipe(srv, client, true) })
		k.wg.Go(func() { k.pipe(client, srv, false) })
	}
}

func (k *link) pipe(to, from net.Conn, fromClient bool) {
	defer func() { _ = to.Close(); _ = from.Close() }()
	buf := make([]byte, 32<<10)
	for {
		k.mu.Lock()
		for fromClient && k.held && !k.over {
			k.cond.Wait()
		}
		k.mu.Unlock()
		n, err := from.Read(buf)
		k.mu.Lock()
		drop := !fromClient && k.mute
		if drop {
			k.lost = append(k.lost, buf[:n]...)
		}
		k.mu.Unlock()
		if !drop && n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// dropped is the server's output that was thrown away.
func (k *link) dropped() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return string(k.lost)
}

// within returns a context that ends with a test's patience.
func within(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(tb.Context(), time.Minute)
	tb.Cleanup(cancel)
	return ctx
}

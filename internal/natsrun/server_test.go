package natsrun_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// within bounds waiting in real time; nothing here takes a hundredth of it.
const within = 2 * time.Minute

func TestRestartKeepsStoreAndAddress(t *testing.T) {
	for name, opts := range map[string][]func(*natsrun.Options){"in process": nil, "listening": {natstest.Listen}} {
		t.Run(name, func(t *testing.T) {
			s := natstest.Server(t, opts...)
			kv, revision := newRecord(t, natstest.JetStream(t, s, persistent()...))
			url, old := s.URL(), s.Running()
			if err := s.Restart(); err != nil {
				t.Fatal(err)
			}
			if s.Running() == old || s.URL() != url {
				t.Fatalf("same server %t, address %s, was %s", s.Running() == old, s.URL(), url)
			}
			expectRecord(t, kv, revision)
		})
	}
}

func TestDownAndUp(t *testing.T) {
	s := natstest.Server(t)
	s.Stop()
	s.Stop() // a second call does nothing
	if _, err := s.InProcessConn(); !errors.Is(err, natsrun.ErrDown) {
		t.Fatalf("dial to a stopped server: %v", err)
	}
	if _, err := s.Connect(); err == nil {
		t.Fatal("connected to a stopped server")
	}
	if err := s.Restart(); err != nil {
		t.Fatal(err)
	}
	natstest.Connect(t, s)
}

func TestShutdownRemovesOnlyItsOwnStore(t *testing.T) {
	dir := t.TempDir()
	for _, opts := range []natsrun.Options{{}, {StoreDir: dir}} {
		s, err := natsrun.Start(opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Shutdown(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(s.StoreDir()); (err == nil) != (opts.StoreDir != "") {
			t.Fatalf("store %q after shutdown of %+v: %v", s.StoreDir(), opts, err)
		}
	}
}

func TestStartSaysWhy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, err = natsrun.Start(natsrun.Options{Listen: true, Port: taken.Addr().(*net.TCPAddr).Port})
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		t.Fatalf("start on a port that is taken: %v", err)
	}
	if _, err := natsrun.Start(natsrun.Options{Listen: true, VirtualTime: true}); err == nil {
		t.Fatal("started a listening server for virtual time")
	}
}

// TestLinkOverTCP: the faults in real time, where a dial into a cut path hangs until the client's
// own timeout.
func TestLinkOverTCP(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	link := s.Link()
	exerciseRealTime(t, link, func(opts ...nats.Option) (*nats.Conn, error) {
		return s.Connect(append(link.Options(), opts...)...)
	})
}

// TestProxy: the same behind a TCP address.
func TestProxy(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	proxy, err := natsrun.NewProxy(strings.TrimPrefix(s.URL(), "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	exerciseRealTime(t, proxy.Link, func(opts ...nats.Option) (*nats.Conn, error) {
		return nats.Connect("nats://"+proxy.Addr(), opts...)
	})
	proxy.Retarget("")
	if nc, err := nats.Connect("nats://" + proxy.Addr()); err == nil {
		nc.Close()
		t.Fatal("connected through a proxy that leads nowhere")
	}
}

func exerciseRealTime(t *testing.T, link *natsrun.Link, connect func(...nats.Option) (*nats.Conn, error)) {
	t.Helper()
	patient, err := connect(nats.Timeout(within)) // held bytes are lost with their connection: no ping may end this one
	if err != nil {
		t.Fatal(err)
	}
	defer patient.Close()
	sub, err := patient.SubscribeSync("s")
	if err != nil {
		t.Fatal(err)
	}
	link.Hold(natsrun.ToServer)
	if err := patient.Publish("s", []byte("held")); err != nil {
		t.Fatal(err)
	}
	natstest.Eventually(t, "the link keeps bytes", within, func() (bool, string) {
		st := link.Stats()
		return st.Waiting > 0, "nothing waits"
	})
	link.Release()
	if m, err := sub.NextMsg(within); err != nil || string(m.Data) != "held" {
		t.Fatalf("after release: %v, %v", m, err)
	}
	patient.Close()

	nc, err := connect(
		nats.PingInterval(20*time.Millisecond), nats.MaxPingsOutstanding(3), nats.MaxReconnects(-1),
		nats.ReconnectWait(10*time.Millisecond), nats.Timeout(100*time.Millisecond), nats.RetryOnFailedConnect(true))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	natstest.Eventually(t, "connected", within, func() (bool, string) { return nc.IsConnected(), nc.Status().String() })
	link.Cut()
	natstest.Eventually(t, "the cut is noticed", within,
		func() (bool, string) { return nc.IsReconnecting(), nc.Status().String() })
	if other, err := connect(nats.Timeout(50 * time.Millisecond)); err == nil {
		other.Close()
		t.Fatal("connected into a cut path")
	} else if !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, os.ErrDeadlineExceeded) &&
		!strings.Contains(err.Error(), "timeout") {
		t.Fatalf("dial into a cut path: %v, want a timeout", err)
	}
	link.Heal()
	natstest.Eventually(t, "reconnected after the cut", within,
		func() (bool, string) { return nc.IsConnected(), nc.Status().String() })

	link.Refuse(true)
	link.Reset()
	natstest.Eventually(t, "the reset is noticed", within,
		func() (bool, string) { return !nc.IsConnected(), nc.Status().String() })
	if other, err := connect(); err == nil {
		other.Close()
		t.Fatal("connected through a link that refuses")
	}
	link.Heal()
	natstest.Eventually(t, "reconnected after the reset", within,
		func() (bool, string) { return nc.IsConnected(), nc.Status().String() })
}

// TestWindowStopsWriter: in real time a full window stops the writer, as TCP does, and loses
// nothing.
func TestWindowStopsWriter(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const size = 20 << 20
	got := make(chan int64, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			got <- -1
			return
		}
		n, _ := io.Copy(io.Discard, c)
		c.Close()
		got <- n
	}()
	link := natsrun.NewLink(&net.Dialer{})
	defer link.Close()
	c, err := link.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	link.Hold(natsrun.ToServer)
	var n int
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		n, err = c.Write(make([]byte, size))
	}()
	const window = 16 << 20
	natstest.Eventually(t, "the window is full", within, func() (bool, string) {
		st := link.Stats()
		return st.Waiting == window, fmt.Sprint(st)
	})
	c.SetWriteDeadline(time.Now())
	<-wrote
	if !errors.Is(err, os.ErrDeadlineExceeded) || n != window {
		t.Fatalf("wrote %d bytes into a held link: %v", n, err)
	}
	c.SetWriteDeadline(time.Time{})
	link.Release()
	m, err := c.Write(make([]byte, size-n))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if total := <-got; total != int64(n+m) || total != size {
		t.Fatalf("%d bytes arrived of %d", total, size)
	}
}

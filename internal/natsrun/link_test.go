package natsrun_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// pings are the options of a client that notices a dead path after 3 s, and comes back by itself.
func pings() []nats.Option {
	return []nats.Option{
		nats.PingInterval(time.Second), nats.MaxPingsOutstanding(2), nats.MaxReconnects(-1),
		nats.ReconnectWait(100 * time.Millisecond), nats.ReconnectJitter(0, 0), nats.ReconnectBufSize(-1),
		nats.Timeout(time.Second),
	}
}

// pair is a client behind a link, and a client with a direct path.
type pair struct {
	link        *natsrun.Link
	far, direct *nats.Conn
	got         chan string // what far receives on "to.far"
}

func newPair(t *testing.T, s *natsrun.Server) *pair {
	t.Helper()
	link := s.Link()
	p := &pair{
		link: link, got: make(chan string, 1000),
		far: natstest.Connect(t, s, append(link.Options(), pings()...)...), direct: natstest.Connect(t, s),
	}
	if _, err := p.far.Subscribe("to.far", func(m *nats.Msg) { p.got <- string(m.Data) }); err != nil {
		t.Fatal(err)
	}
	if err := p.far.Flush(); err != nil {
		t.Fatal(err)
	}
	return p
}

// say publishes n numbered messages from one of the clients.
func say(t *testing.T, nc *nats.Conn, subject string, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		if err := nc.Publish(subject, fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
}

// hear expects exactly the numbers from..from+n-1, in order, and no more.
func (p *pair) hear(t *testing.T, from, n int) {
	t.Helper()
	synctest.Wait()
	for i := from; i < from+n; i++ {
		select {
		case got := <-p.got:
			if got != fmt.Sprint(i) {
				t.Fatalf("heard %s, want %d", got, i)
			}
		default:
			t.Fatalf("heard nothing, want %d of %d..%d", i, from, from+n-1)
		}
	}
	if len(p.got) != 0 {
		t.Fatalf("heard %s after all", <-p.got)
	}
}

func TestCutIsNoticedOnlyByPings(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		p := newPair(t, s)
		p.link.Cut()
		say(t, p.direct, "to.far", 0, 10)
		say(t, p.far, "nobody", 0, 10)
		p.hear(t, 0, 0)
		if !p.far.IsConnected() {
			t.Fatal("a cut was noticed without a ping")
		}
		time.Sleep(time.Minute)
		if p.far.IsConnected() {
			t.Fatal("a cut was not noticed by pings")
		}
		st := p.link.Stats()
		if st.Refused == 0 || st.Dropped == 0 {
			t.Fatalf("nothing was refused or dropped: %+v", st)
		}
		// The server still believes in the old connection, because it did not hear its end.
		if n := s.Running().NumClients(); n != 2 {
			t.Fatalf("the server has %d clients, want 2", n)
		}
		p.link.Heal()
		natstest.Eventually(t, "reconnected", time.Minute,
			func() (bool, string) { return p.far.IsConnected(), p.far.Status().String() })
		synctest.Wait()
		if err := p.direct.Flush(); err != nil {
			t.Fatal(err)
		}
		say(t, p.direct, "to.far", 10, 3)
		p.hear(t, 10, 3)
	})
}

func TestCutOneWay(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		p := newPair(t, s)
		echo, err := p.direct.SubscribeSync("from.far")
		if err != nil {
			t.Fatal(err)
		}
		p.link.CutOneWay(natsrun.ToServer)
		say(t, p.direct, "to.far", 0, 5)
		say(t, p.far, "from.far", 0, 5)
		p.hear(t, 0, 5)
		if m, err := echo.NextMsg(time.Millisecond); !errors.Is(err, nats.ErrTimeout) {
			t.Fatalf("the server heard %v, %v through a cut", m, err)
		}
		p.link.Hold(natsrun.ToClient)
		say(t, p.direct, "to.far", 5, 5)
		if err := p.direct.Flush(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.link.CutOneWay(natsrun.ToClient) // takes what is under way too
		p.link.Release()
		p.hear(t, 0, 0)
		p.link.Heal() // resets: what was lost cannot come back
		natstest.Eventually(t, "reconnected", time.Minute, func() (bool, string) {
			return p.far.IsConnected() && p.far.Stats().Reconnects == 1, p.far.Status().String()
		})
	})
}

func TestHeldLinkDeliversLaterInOrder(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		p := newPair(t, s)
		echo, err := p.direct.SubscribeSync("from.far")
		if err != nil {
			t.Fatal(err)
		}
		p.link.Hold(natsrun.Both)
		say(t, p.direct, "to.far", 0, 100)
		say(t, p.far, "from.far", 0, 100)
		time.Sleep(time.Second + 500*time.Millisecond)
		p.hear(t, 0, 0)
		if p.link.Stats().Waiting == 0 {
			t.Fatal("a held link keeps nothing")
		}
		p.link.Release()
		p.hear(t, 0, 100)
		for i := range 100 {
			m, err := echo.NextMsg(time.Millisecond)
			if err != nil || string(m.Data) != fmt.Sprint(i) {
				t.Fatalf("message %d: %v, %v", i, m, err)
			}
		}
		if n := p.far.Stats().Reconnects; n != 0 {
			t.Fatalf("a hold shorter than the pings cost %d reconnects", n)
		}
	})
}

func TestDelayKeepsOrder(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		p := newPair(t, s)
		p.link.DelayDir(natsrun.ToClient, 300*time.Millisecond)
		say(t, p.direct, "to.far", 0, 10)
		synctest.Wait()
		p.link.DelayDir(natsrun.ToClient, time.Millisecond) // does not overtake
		say(t, p.direct, "to.far", 10, 10)
		time.Sleep(299 * time.Millisecond)
		p.hear(t, 0, 0)
		time.Sleep(2 * time.Millisecond)
		p.hear(t, 0, 20)

		p.link.Delay(100 * time.Millisecond)
		rtt, err := p.far.RTT()
		if err != nil || rtt != 200*time.Millisecond {
			t.Fatalf("round trip over 2 × 100 ms of virtual time: %v, %v", rtt, err)
		}
	})
}

func TestResetAndRefuse(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		p := newPair(t, s)
		p.link.Refuse(true)
		if _, err := p.far.RTT(); err != nil {
			t.Fatalf("refusing dials broke a connection: %v", err)
		}
		if _, err := p.link.Dial("tcp", ""); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Fatalf("dial: %v", err)
		}
		p.link.Reset()
		time.Sleep(10 * time.Second)
		if p.far.IsConnected() {
			t.Fatal("reconnected through a link that refuses")
		}
		p.link.Refuse(false)
		time.Sleep(time.Second)
		if !p.far.IsConnected() {
			t.Fatal("not reconnected")
		}
		// The server forgets the old connection in real work, not in virtual time.
		synctest.Wait()
		if n := s.Running().NumClients(); n != 2 {
			t.Fatalf("the server has %d clients, want 2", n)
		}
	})
}

// TestServerEndBehindFaults: the end of a connection travels like its bytes.
func TestServerEndBehindFaults(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		p := newPair(t, s)
		p.link.Hold(natsrun.ToClient)
		say(t, p.direct, "to.far", 0, 3)
		if err := p.direct.Flush(); err != nil {
			t.Fatal(err)
		}
		s.Stop()
		synctest.Wait()
		if !p.far.IsConnected() {
			t.Fatal("the client heard of the server's end through a held link")
		}
		p.link.Release()
		p.hear(t, 0, 3)
		if p.far.IsConnected() {
			t.Fatal("the end of the connection was not delivered")
		}
		if err := s.Restart(); err != nil {
			t.Fatal(err)
		}
		natstest.Eventually(t, "reconnected", time.Minute,
			func() (bool, string) { return p.far.IsConnected(), p.far.Status().String() })
	})
}

// TestDelayBeginsBehindHandshake: on a slow link a handshake takes no virtual time, and everything
// after it does.
func TestDelayBeginsBehindHandshake(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		link.Delay(300 * time.Millisecond)
		began := time.Now()
		nc := natstest.Connect(t, s, append(link.Options(), pings()...)...)
		if took := time.Since(began); took != 0 {
			t.Fatalf("the handshake took %v", took)
		}
		if rtt, err := nc.RTT(); err != nil || rtt != 600*time.Millisecond {
			t.Fatalf("round trip over 2 × 300 ms of virtual time: %v, %v", rtt, err)
		}
	})
}

// TestFaultDuringHandshake: a fault that begins while clients connect leaves none of them waiting
// on virtual time.
func TestFaultDuringHandshake(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		opts := append(link.Options(), pings()...)
		nc := natstest.Connect(t, s, append(opts, nats.RetryOnFailedConnect(true))...)
		for i := range 200 {
			go nc.IsConnected()                // wants the mutex that a handshake holds
			link.Delay(300 * time.Millisecond) // Heal ends it
			switch i % 4 {
			case 0:
				link.Cut()
			case 1:
				link.Heal()
			case 2:
				link.Hold(natsrun.Direction(1 + i/4%3))
			case 3:
				link.Heal()
				link.Reset()
			}
			time.Sleep(time.Duration(i%7) * 35 * time.Millisecond)
		}
		link.Heal()
		natstest.Eventually(t, "connected", time.Minute,
			func() (bool, string) { return nc.IsConnected(), nc.Status().String() })
	})
}

// TestWindowInVirtualTime: a link that cannot stop its writer resets, instead of growing.
func TestWindowInVirtualTime(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		p := newPair(t, s)
		p.link.Hold(natsrun.ToServer)
		block := make([]byte, 1<<20)
		var err error
		for i := 0; err == nil && i < 40; i++ {
			err = errors.Join(p.far.Publish("nobody", block), p.far.FlushTimeout(time.Nanosecond))
			synctest.Wait()
			if p.far.IsConnected() {
				err = nil
			}
		}
		if waiting := p.link.Stats().Waiting; p.far.IsConnected() || waiting > 17<<20 {
			t.Fatalf("connected %t with %d bytes kept", p.far.IsConnected(), waiting)
		}
	})
}

package natsconn

import (
	"bufio"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer speaks for a server, as much as a connection needs: which messages it takes, and that it is
// there.
type peer struct{ net.Conn }

func (p peer) takes(bytes int) error {
	_, err := fmt.Fprintf(p, "INFO {\"max_payload\":%d}\r\n", bytes)
	return err
}

func (p peer) answer() {
	for lines := bufio.NewScanner(p); lines.Scan(); {
		if lines.Text() == "PING" {
			_, _ = fmt.Fprint(p, "PONG\r\n") // a connection that has closed awaits none
		}
	}
}

// dialed is the other end of its connection, for a client.
type dialed struct{ net.Conn }

func (d dialed) InProcessConn() (net.Conn, error) { return d.Conn, nil }

// TestRefresh: a Sender that sends nothing learns a new max_payload when a message is found too
// large, and not before.
func TestRefresh(t *testing.T) {
	theirs, ours := net.Pipe()
	server := peer{theirs}
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		if err := server.takes(100); err != nil {
			t.Error(err)
		}
		server.answer()
	})
	nc, err := nats.Connect("", nats.InProcessServer(dialed{ours}), nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	s := NewSender(nc, &wg)
	defer s.Stop()
	if err := server.takes(1000); err != nil {
		t.Fatal(err)
	}
	if err := nc.Flush(); err != nil { // its answer comes after the news
		t.Fatal(err)
	}
	if most := s.MaxPayload(); most != 100 {
		t.Fatalf("it takes %d bytes before anybody has asked", most)
	}
	s.Refresh()
	for until := time.Now().Add(time.Minute); s.MaxPayload() != 1000; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("it takes %d bytes", s.MaxPayload())
		}
	}
}

package dashboard

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// silent opens a stream of the events by raw TCP, and reads its first byte only: it is served.
func (s *site) silent(address string) {
	s.t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = c.Close() })
	_ = c.(*net.TCPConn).SetReadBuffer(4 << 10) // a small one is filled sooner
	if _, err := io.WriteString(c, "GET /live?view=/events HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
		s.t.Fatal(err)
	}
}

// heldMemory is how much of the heap is in use.
func heldMemory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestSilentReaders: viewers that open a stream and never read are disconnected once they take
// longer to read than they may. Until then nothing piles up for them, and others see every change.
func TestSilentReaders(t *testing.T) {
	const most = 32 << 20
	silent := thorough.Pick(8, 20)
	if testing.Short() {
		silent = 4
	}
	s := open(t, natstest.Server(t), nil)
	s.h.writeWithin = time.Second
	var closed atomic.Int64
	server := httptest.NewUnstartedServer(s.h)
	server.Config.ConnState = func(_ net.Conn, now http.ConnState) {
		if now == http.StateClosed {
			closed.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close) // after the connections
	t.Cleanup(s.h.Close)    // which ends the streams
	happens := func(i int) string {
		text := fmt.Sprintf("number-%d-", i)
		s.h.hub.add(happening{Time: time.Now(), Change: "problem", Text: text + strings.Repeat("x", 200)})
		return text
	}
	for i := range maxEvents {
		happens(-i)
	}
	live := s.follow("view=/events", "")
	live.until("number-")
	for range silent {
		s.silent(server.Listener.Addr().String())
	}
	if n := len(s.h.streams); n != silent+1 {
		t.Fatalf("%d streams are open", n)
	}
	before, updates := heldMemory(), 0
	for end := time.Now().Add(patience); len(s.h.streams) > 1; updates++ {
		if time.Now().After(end) {
			t.Fatalf("%d streams are open after %d updates", len(s.h.streams), updates)
		}
		live.until(happens(updates))
		if updates%50 == 0 {
			if more := heldMemory() - before; more > most {
				t.Fatalf("%d bytes more are held after %d updates", more, updates)
			}
		}
	}
	t.Logf("all are disconnected after %d updates", updates)
	live.until(happens(updates)) // the one that reads is still there
	natstest.Eventually(t, "their connections are closed", patience, func() (bool, string) {
		return closed.Load() == int64(silent), fmt.Sprint(closed.Load())
	})
	natstest.Eventually(t, "one stream is followed", patience, func() (bool, string) {
		s.h.mu.Lock()
		defer s.h.mu.Unlock()
		n := s.h.views["/events"].followers
		return n == 1, fmt.Sprint(n)
	})
}

package guardlink

import (
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/ending"
)

// TestAGuardThatComesBack is told again, and one that is not there holds nobody up.
func TestAGuardThatComesBack(t *testing.T) {
	at := &net.UnixAddr{Name: filepath.Join(t.TempDir(), "guard"), Net: "unixpacket"}
	l := &Link{dial: &dialer{path: at.Name, fd: -1}}
	tell := func() error {
		l.dial.after = time.Time{} // as if time had passed
		return l.Tell(Message{Place: Place{Bucket: "roles"}, Word: ending.Word{Key: "c.lease.a", Nonce: "n"}})
	}
	for range 2 {
		if err := tell(); !errors.Is(err, ErrGone) {
			t.Fatalf("nobody listens: %v", err)
		}
		guard, err := net.ListenUnix("unixpacket", at)
		if err != nil {
			t.Fatal(err)
		}
		if err := tell(); err != nil {
			t.Fatal(err)
		}
		conn, err := guard.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		packet := make([]byte, MaxMessage)
		n, err := conn.Read(packet)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := Decode(packet[:n]); err != nil || m.Bucket != "roles" {
			t.Errorf("%+v, %v", m, err)
		}
		conn.Close()
		guard.Close()
	}
}

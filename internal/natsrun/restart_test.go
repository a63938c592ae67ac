package natsrun

import (
	"net"
	"sync"
	"testing"
	"time"
)

// TestRestartWaitsForItsPort: while the server was down, another process was given its port.
func TestRestartWaitsForItsPort(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{opts: Options{Listen: true}, dir: storeDir{path: t.TempDir()}, port: taken.Addr().(*net.TCPAddr).Port}
	if err := s.start(); !isTaken(err) {
		t.Fatalf("started on a port that is taken: %v", err)
	}
	var freed sync.WaitGroup
	freed.Go(func() {
		time.Sleep(3 * readyWithin / 200) // a few attempts
		_ = taken.Close()
	})
	if err := s.Restart(); err != nil {
		t.Error(err)
	}
	freed.Wait()
	if err := s.Shutdown(); err != nil {
		t.Error(err)
	}
}

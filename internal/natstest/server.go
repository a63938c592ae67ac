package natstest

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Server starts a server that is shut down when the test ends, after the clean-ups registered later. Without options it
// is reached in process and its store is temporary. Each option edits what the ones before it left.
func Server(tb testing.TB, opts ...func(*natsrun.Options)) *natsrun.Server {
	tb.Helper()
	return start(tb, build(opts))
}

// Listen is an option: the server listens on a free port of loopback.
func Listen(o *natsrun.Options) { o.Listen = true }

// StoreIn returns an option: the server keeps its store in dir, which outlives it.
func StoreIn(dir string) func(*natsrun.Options) {
	return func(o *natsrun.Options) { o.StoreDir = dir }
}

// Connect returns a connection to the server that is closed when the test ends. The options of a link lead it there.
func Connect(tb testing.TB, s *natsrun.Server, opts ...nats.Option) *nats.Conn {
	tb.Helper()
	nc, err := s.Connect(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(nc.Close)
	return nc
}

func build(opts []func(*natsrun.Options)) natsrun.Options {
	var o natsrun.Options
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// straggle is how long a bubble goes on when its server has been shut down: nats-server does not wait for all of its
// goroutines. One that writes a file block sleeps a millisecond to gather more; a bubble that ends before it does is a panic.
const straggle = time.Second

func start(tb testing.TB, o natsrun.Options) *natsrun.Server {
	tb.Helper()
	s, err := natsrun.Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Shutdown(); err != nil {
			tb.Error(err)
		}
		if o.VirtualTime {
			time.Sleep(straggle)
		}
	})
	return s
}

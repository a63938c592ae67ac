package natstest

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// Server starts a server that is shut down when the test ends, after the clean-ups registered
// later. Without options it is reached in process and its store is temporary. Each option edits the
// result of the options before it.
func Server(tb testing.TB, opts ...func(*natsrun.Options)) *natsrun.Server {
	tb.Helper()
	return start(tb, build(opts))
}

// Listen is an option: the server listens on a free port of loopback.
func Listen(o *natsrun.Options) { o.Listen = true }

// StoreIn returns an option: the server keeps its store in dir, which outlives the server.
func StoreIn(dir string) func(*natsrun.Options) {
	return func(o *natsrun.Options) { o.StoreDir = dir }
}

// Network is anything that clients connect to: a natsrun.Server, Process, Cluster or
// ProcessCluster.
type Network interface {
	Connect(opts ...nats.Option) (*nats.Conn, error)
	Link() *natsrun.Link
}

// Connect returns a connection to the network that is closed when the test ends. The options of a
// link route it along that link.
func Connect(tb testing.TB, s Network, opts ...nats.Option) *nats.Conn {
	tb.Helper()
	nc, err := s.Connect(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(nc.Close)
	return nc
}

// JetStream is Connect for a client of JetStream.
func JetStream(tb testing.TB, s Network, opts ...nats.Option) jetstream.JetStream {
	tb.Helper()
	js, err := jetstream.New(Connect(tb, s, opts...))
	if err != nil {
		tb.Fatal(err)
	}
	return js
}

func build[O any](opts []func(*O)) O {
	var o O
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

// straggle is how long a bubble continues after its server has been shut down, because nats-server
// does not wait for all of its goroutines. One that writes a file block sleeps a millisecond to
// gather more; if the bubble ends before that goroutine does, it panics.
const straggle = time.Second

func start(tb testing.TB, o natsrun.Options) *natsrun.Server {
	tb.Helper()
	s, err := natsrun.Start(o)
	if o.VirtualTime {
		tb.Cleanup(func() { time.Sleep(straggle) }) // runs after the shutdown, which is registered later
	}
	shutAtEnd(tb, s, err)
	return s
}

// shutter is anything that was started and must be shut down.
type shutter interface{ Shutdown() error }

// shutAtEnd shuts down a started server or cluster when the test ends. If the start failed, the
// test ends now.
func shutAtEnd(tb testing.TB, started shutter, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := started.Shutdown(); err != nil {
			tb.Error(err)
		}
	})
}

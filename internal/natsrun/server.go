package natsrun

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// ErrDown means that the server is stopped.
var ErrDown = errors.New("natsrun: server is down")

// readyWithin is how long a server may take to come up; it takes milliseconds.
const readyWithin = 20 * time.Second

// Server is a real nats-server with JetStream in this process.
//
// Dial, InProcessConn, Connect, URL and Link may be called at any time, even while the server is
// down. Stop, Restart and Shutdown are for one goroutine at a time.
type Server struct {
	opts  Options
	dir   storeDir
	port  int
	held  *heldPort // of a server that listens on a port of its own choice
	links links

	running atomic.Pointer[server.Server] // nil: down
}

// Start starts a server and waits until it takes connections. Shutdown ends it.
func Start(opts Options) (*Server, error) {
	if opts.VirtualTime && opts.Listen {
		return nil, errors.New("natsrun: VirtualTime excludes Listen: a server in a bubble is reached in process")
	}
	dir, err := openStoreDir(opts.StoreDir)
	if err != nil {
		return nil, err
	}
	s := &Server{opts: opts, dir: dir, port: opts.Port}
	switch {
	case s.port != 0:
	case !opts.Listen:
		s.port = server.RANDOM_PORT
	default:
		if s.held, s.port, err = holdPort(); err != nil {
			return nil, errors.Join(err, dir.remove())
		}
	}
	if err := s.start(); err != nil {
		return nil, errors.Join(err, s.held.release(), dir.remove())
	}
	return s, nil
}

func (s *Server) start() error {
	so := s.opts.serverOptions(s.dir.path, s.port)
	srv, err := server.NewServer(so)
	if err != nil {
		return fmt.Errorf("natsrun: configure server: %w", err)
	}
	log := &logger{}
	srv.SetLoggerV2(log, false, false, false)
	srv.Start()
	if !isReady(srv, log) || (so.JetStream && !srv.JetStreamEnabled()) {
		srv.Shutdown()
		srv.WaitForShutdown()
		return fmt.Errorf("natsrun: start server in %s: %s", s.dir.path, log)
	}
	if addr, ok := srv.Addr().(*net.TCPAddr); ok && s.opts.Listen && s.port != addr.Port {
		s.port = addr.Port // the first start has chosen it; nobody knows the server yet
	}
	s.running.Store(srv)
	return nil
}

// isReady waits until the server takes connections, or has logged why it never will.
func isReady(srv *server.Server, log *logger) bool {
	for deadline := time.Now().Add(readyWithin); time.Now().Before(deadline) && !log.fatal(); {
		if srv.ReadyForConnections(readyWithin / 200) {
			return true
		}
	}
	return false
}

// Stop takes the server down and waits until it has stopped. Its clients lose their connections;
// Restart brings it back.
func (s *Server) Stop() {
	if srv := s.running.Swap(nil); srv != nil {
		srv.Shutdown()
		srv.WaitForShutdown()
	}
}

// Restart takes the server down, if it is up, and brings it up again on the same store and address.
// A port that Options.Port names may be taken by another process while the server is down; Restart
// waits for the port for a limited time.
func (s *Server) Restart() error {
	s.Stop()
	err := s.start()
	for deadline := time.Now().Add(readyWithin); isTaken(err) && time.Now().Before(deadline); {
		time.Sleep(readyWithin / 200)
		err = s.start()
	}
	return err
}

// isTaken reads the text, because a line in the server's log is the only trace of why it could not
// listen.
func isTaken(err error) bool {
	return err != nil && strings.Contains(err.Error(), "address already in use")
}

// Shutdown takes the server down, closes the links that it made, and removes a temporary store. It
// returns when all of that has ended; the server cannot be used again.
func (s *Server) Shutdown() error {
	s.Stop()
	s.links.close()
	return errors.Join(s.held.release(), s.dir.remove())
}

// URL is where clients connect. For a server that does not listen it is a placeholder that no real
// dial can reach: a client also needs the server's or a link's dialer (Connect, Link.Options).
func (s *Server) URL() string {
	if !s.opts.Listen {
		return "nats://127.0.0.1:1"
	}
	return fmt.Sprintf("nats://127.0.0.1:%d", s.port)
}

// StoreDir is the directory of JetStream's files.
func (s *Server) StoreDir() string { return s.dir.path }

// Running is the server that runs now, or nil while it is down. Restart replaces it.
func (s *Server) Running() *server.Server { return s.running.Load() }

// Connect returns a connection that reconnects to the server that runs at that time. The options
// come last, so those of a link replace the direct path.
func (s *Server) Connect(opts ...nats.Option) (*nats.Conn, error) {
	return connect(s.URL(), append([]nats.Option{nats.SetCustomDialer(s)}, opts...)...)
}

// Link returns a new path to the server, closed by Shutdown.
func (s *Server) Link() *Link {
	l := NewLink(s)
	l.virtual = s.opts.VirtualTime
	return s.links.add(l)
}

// Dial reaches the server that runs now, in process or over loopback, whatever the address. It
// makes a Server a nats.CustomDialer. Errors: ErrDown, or the dial's.
func (s *Server) Dial(_, _ string) (net.Conn, error) {
	if !s.opts.Listen {
		return s.InProcessConn()
	}
	return net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", s.port), readyWithin)
}

// InProcessConn reaches the server that runs now in process, even if it listens. It makes a Server
// a nats.InProcessConnProvider. Error: ErrDown.
func (s *Server) InProcessConn() (net.Conn, error) {
	srv := s.running.Load()
	if srv == nil {
		return nil, ErrDown
	}
	c, err := srv.InProcessConn()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDown, err)
	}
	return c, nil
}

package permissions_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Halves(m) }

// The names of testdata/permissions.conf.
const (
	bucket    = "roles"
	namespace = "jobs"
	ledger    = "ledger"
	scheduler = "scheduler" // the role of a
	metrics   = "metrics"   // the role of b
)

// instead names another file of permissions, see TestEveryGrantIsNeeded.
const instead = "SECURITY_TEST_PERMISSIONS"

// published starts the server with the accounts and users of testdata/permissions.conf.
func published(t *testing.T) func(*natsrun.Options) {
	t.Helper()
	name := cmp.Or(os.Getenv(instead), "testdata/permissions.conf")
	file, err := server.ProcessConfigFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return func(o *natsrun.Options) {
		o.Configure = func(so *server.Options) { so.Accounts, so.Users = file.Accounts, file.Users }
	}
}

// settles is for the beginning of a test in a bubble: its clean-up lets a second pass before the
// server is shut down. The server leaves behind a goroutine that was about to flush a file, for a
// millisecond, and a bubble may not end before everybody has.
func settles(t *testing.T) { t.Cleanup(func() { time.Sleep(time.Second) }) }

// denials are what the server has said to somebody about permissions.
type denials struct {
	mu    sync.Mutex
	list  []string
	conns []conn
}

// conn is a user's connection. closed is closed when it is, and all of its complaints have been
// noted.
type conn struct {
	nc     *nats.Conn
	closed chan struct{}
}

func (c *denials) add(user string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf("%s: %v", user, err))
}

// all closes every connection, when the server has judged everything that was sent on it, and
// returns what it has said.
func (c *denials) all(t *testing.T) string {
	t.Helper()
	for _, conn := range c.conns {
		// A flush that meets a reconnect fails.
		natstest.Eventually(t, "the connection is flushed", time.Minute, func() (bool, string) {
			err := conn.nc.Flush()
			return err == nil, fmt.Sprint(err)
		})
		conn.nc.Close()
		<-conn.closed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.list, "\n")
}

// as connects a user, with an inbox prefix of its own.
func as(t *testing.T, s *natsrun.Server, user string, heard *denials, more ...nats.Option) *nats.Conn {
	t.Helper()
	closed := make(chan struct{})
	nc := natstest.Connect(t, s, append([]nats.Option{
		nats.ClosedHandler(func(*nats.Conn) { close(closed) }),
		nats.UserInfo(user, "x"), nats.CustomInboxPrefix("_INBOX_" + user), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { heard.add(user, err) }),
	}, more...)...)
	heard.conns = append(heard.conns, conn{nc, closed})
	return nc
}

// session is one process's session, not open yet.
func session(t *testing.T, id string, edit ...func(*election.SessionConfig)) *election.Session {
	t.Helper()
	cfg := election.SessionConfig{Bucket: bucket, InstanceID: id, TTL: time.Second}
	for _, e := range edit {
		e(&cfg)
	}
	s, err := election.NewSession(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// open opens a session; it is closed when the test ends, or before.
func open(t *testing.T, s *election.Session, nc *nats.Conn) {
	t.Helper()
	t.Cleanup(func() { leave(t, s) })
	if err := s.Open(within(t, time.Minute), nc); err != nil {
		t.Fatalf("open the session of %s: %v", s.Instance(), err)
	}
}

// leave closes a session cleanly, if it was not closed before.
func leave(t *testing.T, s *election.Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := s.Close(ctx); err != nil && !errors.Is(err, election.ErrClosed) && !t.Failed() {
		t.Errorf("close the session of %s: %v", s.Instance(), err)
	}
}

// campaign takes part in a role.
func campaign(t *testing.T, s *election.Session, cfg election.RoleConfig) *election.Election {
	t.Helper()
	e, err := s.Campaign(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func workerOnly(cfg *election.SessionConfig) { cfg.WorkerOnly = true }

// idle is work that does nothing until its term ends; it hands its terms over.
func idle(terms chan<- *election.Term) func(context.Context, *election.Term) error {
	return func(ctx context.Context, term *election.Term) error {
		terms <- term
		<-ctx.Done()
		return nil
	}
}

// next waits for a term.
func next(t *testing.T, what string, terms <-chan *election.Term) *election.Term {
	t.Helper()
	select {
	case term := <-terms:
		return term
	case <-time.After(time.Minute):
		t.Fatalf("not within a minute: %s", what)
		return nil
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

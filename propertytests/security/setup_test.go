package security_test

import (
	"cmp"
	"context"
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

func TestMain(m *testing.M) { natstest.Main(m) }

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

// complaints are what the server has said to somebody about permissions.
type complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *complaints) add(user string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, fmt.Sprintf("%s: %v", user, err))
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.list, "\n")
}

// as connects a user, with an inbox prefix of its own.
func as(t *testing.T, s *natsrun.Server, user string, heard *complaints, more ...nats.Option) *nats.Conn {
	t.Helper()
	return natstest.Connect(t, s, append([]nats.Option{
		nats.UserInfo(user, "x"), nats.CustomInboxPrefix("_INBOX_" + user), nats.MaxReconnects(-1),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { heard.add(user, err) }),
	}, more...)...)
}

// session is one process's session; it is closed when the test ends.
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
	t.Cleanup(func() { _ = s.Close(context.Background()) }) // what is left is the server's to forget
	return s
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
	case <-time.After(5 * time.Minute):
		t.Fatalf("not within 5 minutes: %s", what)
		return nil
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

package assign_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// together is how many of the tests on three servers run beside each other: most of the time they
// wait for elections of these.
const together = 6

func TestMain(m *testing.M) {
	natstest.Together(together)
	natstest.Halves(m)
}

// costly leaves a test out under -short: it moves much, or lasts for long, so it takes half a
// minute under the race detector. Other tests have the same goroutines do less.
func costly(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it moves much, or lasts for long")
	}
}

const (
	testRole = "scheduler"
	testNS   = "work"

	// stored begins the subjects of records.
	stored = "$KV.TASKS_" + testNS + "."
	// said is what begins the subjects of messages that are not stored, with any id. See saidIn.
	said = "$TASKS." + testNS + ".*"

	bucketStream, taskStream, objectsStream = "KV_roles", "TASKS_" + testNS, "OBJ_TASKS_" + testNS
	testTTL                                 = 2 * time.Second
)

// node is one process of a test: a session, an assigner, and a campaign for the scheduler's role.
type node struct {
	t       *testing.T
	name    string
	link    *natsrun.Link
	nc      *nats.Conn
	session *election.Session
	a       *assign.Assigner
	e       *election.Election
	cancel  context.CancelFunc
	ran     chan error

	mu     sync.Mutex
	events []event.Event
}

type nodeOption func(*election.SessionConfig, *assign.Config, *bool)

func workerOnly(s *election.SessionConfig, _ *assign.Config, campaign *bool) {
	s.WorkerOnly, *campaign = true, false
}

func follower(_ *election.SessionConfig, _ *assign.Config, campaign *bool) { *campaign = false }

// slowly is for hours of virtual time: its beats and pings are seldom.
func slowly(s *election.SessionConfig, _ *assign.Config, _ *bool) { s.TTL = 4 * time.Minute }

func slots(n int) nodeOption {
	return func(_ *election.SessionConfig, a *assign.Config, _ *bool) { a.Slots = n }
}

// dialer makes connections of a node: a server or a link to it.
type dialer interface {
	Connect(opts ...nats.Option) (*nats.Conn, error)
	Link() *natsrun.Link
}

// newNode opens a session along a link of its own. register is called before the session is opened.
func newNode(t *testing.T, s dialer, name string, register func(*assign.Assigner), opts ...nodeOption) *node {
	t.Helper()
	n := &node{t: t, name: name, link: s.Link(), ran: make(chan error, 1)}
	sc := election.SessionConfig{Bucket: "roles", BucketAutoCreate: true, InstanceID: name, TTL: testTTL}
	ac := assign.Config{Namespace: testNS, Role: testRole, Slots: 8, StreamAutoCreate: true}
	campaign := true
	for _, o := range opts {
		o(&sc, &ac, &campaign)
	}
	sc.Sinks = append(sc.Sinks, event.SinkFunc(func(e event.Event) {
		switch e := e.(type) {
		case event.Heartbeat, event.TaskGauges: // there are many, and no test looks at them
			return
		case event.Fault:
			if e.Err == nil {
				t.Errorf("%s: a fault in %q that says nothing", name, e.Doing)
			}
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		n.events = append(n.events, e)
	}))
	var err error
	n.nc, err = s.Connect(append(n.link.Options(), nats.ReconnectBufSize(-1), nats.MaxReconnects(-1),
		nats.ReconnectWait(50*time.Millisecond), nats.PingInterval(sc.TTL/4), nats.MaxPingsOutstanding(2),
		nats.Name(name),
		nats.FlusherTimeout(time.Second), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))...)
	if err != nil {
		t.Fatal(err)
	}
	if n.session, err = election.NewSession(sc); err != nil {
		t.Fatal(err)
	}
	if n.a, err = assign.New(n.session, ac); err != nil {
		t.Fatal(err)
	}
	if register != nil {
		register(n.a)
	}
	if err := n.session.Open(t.Context(), n.nc); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	if campaign {
		if n.e, err = n.session.Campaign(election.RoleConfig{Role: testRole}); err != nil {
			t.Fatal(err)
		}
		go func() { n.ran <- n.e.Run(ctx, n.a.Lead) }()
	} else {
		n.ran <- nil
	}
	t.Cleanup(func() { n.close(t) })
	return n
}

// close ends a node cleanly; a second call does nothing.
func (n *node) close(t *testing.T) {
	if n.cancel == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := n.session.Close(ctx); err != nil && !errors.Is(err, election.ErrClosed) {
		t.Logf("close %s: %v", n.name, err)
	}
	n.cancel()
	n.cancel = nil
	<-n.ran
	n.nc.Close()
}

// count counts events that match, when all have come that this moment brings.
func (n *node) count(match func(event.Event) bool) int {
	natstest.Settle(n.t)
	n.mu.Lock()
	defer n.mu.Unlock()
	k := 0
	for _, e := range n.events {
		if match(e) {
			k++
		}
	}
	return k
}

func (n *node) dump() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := ""
	for _, e := range n.events {
		out += fmt.Sprintf("%s %T %+v\n", n.name, e, e)
	}
	return out
}

func New(t *testing.T, s dialer, around ...assign.SubmitMiddleware) *assign.Client {
	t.Helper()
	nc, err := s.Connect()
	if err != nil {
		t.Fatal(err)
	}
	c, err := assign.NewClient(nc, assign.ClientConfig{
		Namespace: testNS, StreamAutoCreate: true, SubmitMiddleware: around,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		nc.Close()
	})
	return c
}

// leader waits until one of the nodes leads.
func leader(t *testing.T, nodes ...*node) *node {
	t.Helper()
	var found *node
	natstest.Eventually(t, "a scheduler", 30*time.Second, func() (bool, string) {
		for _, n := range nodes {
			if n.e != nil && n.e.IsLeader() {
				found = n
				return true, ""
			}
		}
		return false, "nobody leads"
	})
	return found
}

// noReports keeps the connection's faults off the test's output, and lets it reconnect for ever.
var noReports = []nats.Option{
	nats.MaxReconnects(-1), nats.ReconnectWait(50 * time.Millisecond), nats.PingInterval(500 * time.Millisecond),
	nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}),
}

// saidIn is what begins the subjects of messages that are not stored and concern a stream: they
// carry its id.
func saidIn(t *testing.T, nc *nats.Conn, stream string) string {
	t.Helper()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	s, err := js.Stream(t.Context(), stream)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(said, "*", s.CachedInfo().Config.Metadata["rolemanager.id"], 1)
}

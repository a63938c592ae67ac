package natstest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natsrun"
)

// tenants is how many accounts the shared cluster has, each for one test.
const tenants = 16

// shared is the cluster of Tenant. It runs as long as a test has an account on it.
var shared struct {
	sync.Mutex
	cluster *natsrun.Cluster
	now     int // tests that have an account
	given   int // accounts of this cluster
}

// Tenant returns an account on a cluster of three servers that tests of a package share: it takes
// seconds to form. No test sees the streams and subjects of another, though they stay until the
// last test has ended. In a short run it skips the test, as Cluster does.
//
// It is for tests that call t.Parallel before and leave the servers alone.
func Tenant(t *testing.T) Network {
	t.Helper()
	if testing.Short() {
		t.Skip("a cluster takes seconds to form")
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.now == 0 {
		c, err := natsrun.StartCluster(natsrun.ClusterOptions{Configure: withAccounts})
		if err != nil {
			t.Fatal(err)
		}
		shared.cluster, shared.given = c, 0
	}
	shared.now++
	t.Cleanup(leave(t))
	ready(t, shared.cluster)
	if shared.given == tenants {
		t.Fatalf("the cluster that tests share has %d accounts, and all are given: raise tenants", tenants)
	}
	shared.given++
	return tenant{shared.cluster, account(shared.given)}
}

// leave returns what ends the cluster with the last test that has an account.
func leave(t *testing.T) func() {
	return func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.now--; shared.now > 0 {
			return
		}
		if err := shared.cluster.Shutdown(); err != nil {
			t.Error(err)
		}
	}
}

// account is the name of an account, and of its user.
func account(i int) string { return fmt.Sprintf("account%d", i) }

// withAccounts gives a server the accounts.
func withAccounts(_ int, so *server.Options) {
	var accounts strings.Builder
	for i := range tenants {
		fmt.Fprintf(&accounts, "%s { jetstream: enabled, users: [{ user: %[1]s, password: %[1]s }] }\n", account(i+1))
	}
	var read server.Options
	if err := read.ProcessConfigString("accounts {\n" + accounts.String() + "}"); err != nil {
		panic(err) // the text is correct
	}
	so.Accounts, so.Users = read.Accounts, read.Users
}

// tenant is a cluster as one of its accounts sees it.
type tenant struct {
	Network
	user string
}

// Connect returns a connection of the account.
func (x tenant) Connect(opts ...nats.Option) (*nats.Conn, error) {
	return x.Network.Connect(append([]nats.Option{nats.UserInfo(x.user, x.user)}, opts...)...)
}

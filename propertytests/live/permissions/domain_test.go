package permissions_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

const domain = "hub"

// TestPublishedSetsSufficeInADomain: on a server of the domain itself the published sets suffice as
// they are, since the server takes the domain off before it checks.
func TestPublishedSetsSufficeInADomain(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settles(t)
		var heard denials
		roleplay(t, s, s, &heard)
	}, published(t), func(o *natsrun.Options) {
		accounts := o.Configure
		o.Configure = func(so *server.Options) {
			accounts(so)
			so.JetStreamDomain = domain
		}
	})
}

// TestPublishedSetsSufficeOnALeafNode: there the sets suffice as docs/guides/leaf-nodes.md changes
// them. The domain is put into requests to the API, and before records that are published.
func TestPublishedSetsSufficeOnALeafNode(t *testing.T) {
	thorough.Only(t, "it waits for leases")
	text, err := os.ReadFile("testdata/permissions.conf")
	if err != nil {
		t.Fatal(err)
	}
	api := "$JS." + domain + ".API."
	changed := strings.NewReplacer(`"$JS.API.`, `"`+api, `"$KV.`, `"`+api+`$KV.`).Replace(string(text))
	name := filepath.Join(t.TempDir(), "permissions.conf")
	if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	h := natstest.Hub(t, natsrun.HubOptions{
		Domain: domain, Configure: accountsOf(t, "testdata/permissions.conf", "APP"),
		Leaves: []natsrun.LeafOptions{{Name: "site", Configure: accountsOf(t, name, "APP")}},
	})
	var heard denials
	roleplay(t, h.Server, h.Leaf(0).Server, &heard)
}

// accountsOf has the accounts and users of a file, of which one account crosses leaf nodes.
func accountsOf(t *testing.T, name, crossing string) func(*server.Options) {
	t.Helper()
	return func(so *server.Options) {
		file, err := server.ProcessConfigFile(name)
		if err != nil {
			t.Fatal(err)
		}
		so.Accounts, so.Users = file.Accounts, file.Users
		for _, r := range so.LeafNode.Remotes {
			r.LocalAccount, r.URLs[0].User = crossing, url.UserPassword("owner", "x")
		}
	}
}

// inDomain has a session use the domain, with a longer lease than elsewhere, for a busy machine.
func inDomain(cfg *election.SessionConfig) {
	cfg.Domain, cfg.TTL, cfg.CoolDown = domain, 6*time.Second, time.Second
}

// roleplay: two candidates, a worker, a submitter and a steward of tasks, an observer, an operator
// and the user of a fenced store do their parts over the domain, and the server has nothing to
// complain about. The owner is at home.
func roleplay(t *testing.T, home, s *natsrun.Server, heard *denials) {
	t.Helper()
	reach, err := natskv.NewReach(domain, "")
	if err != nil {
		t.Fatal(err)
	}
	owner := as(t, home, "owner", heard)
	for _, name := range []string{bucket, ledger} {
		if _, err := natskv.Create(t.Context(), owner, natskv.Config{Bucket: name, Reach: reach}); err != nil {
			t.Fatal(err)
		}
	}
	b := session(t, "b", inDomain)
	open(t, b, as(t, s, "b", heard))
	terms := make(chan *election.Term, 16)
	e := campaign(t, b, election.RoleConfig{Role: metrics, Lead: idle(terms)})
	term := next(t, "b leads "+metrics, terms)
	if ok, err := e.ValidateToken(within(t, time.Minute)); !ok || err != nil {
		t.Errorf("b proves that it leads: %v, %v", ok, err)
	}
	a, w := tasksOver(t, owner, s, heard)
	observer, err := election.Observe(t.Context(), as(t, s, "o", heard), bucket,
		election.WithWorkers(), election.WithDomain(domain))
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Close()
	sees(t, observer, "a, b and w", "a", "b", "w")
	operator, err := election.Observe(t.Context(), as(t, s, "op", heard), bucket, election.WithDomain(domain))
	if err != nil {
		t.Fatal(err)
	}
	defer operator.Close()
	if err := operator.Evict(within(t, time.Minute), metrics, term.Epoch()); err != nil {
		t.Errorf("evict: %v", err)
	}
	next(t, "b leads again after it was evicted", terms)
	writes(t, s, heard)
	for _, process := range []*election.Session{w, a, b} {
		leave(t, process)
	}
	observer.Close()
	operator.Close()
	if said := heard.all(t); said != "" {
		t.Errorf("the server complains:\n%s", said)
	}
}

// tasksOver has a scheduler, a worker, a submitter and a steward of tasks do their parts over the
// domain, and returns the sessions of the first two. The scheduler runs no task itself.
func tasksOver(t *testing.T, owner *nats.Conn, s *natsrun.Server, heard *denials) (a, w *election.Session) {
	t.Helper()
	cfg := assign.ClientConfig{Namespace: namespace, Domain: domain, StreamAutoCreate: true}
	creator, err := assign.NewClient(owner, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer creator.Close()
	if _, err := assign.CreateObjects(t.Context(), owner, cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := assign.Get(t.Context(), creator, "nothing"); !errors.Is(err, assign.ErrTaskNotFound) {
		t.Fatal(err)
	}
	nothing := func(context.Context, []byte) error { return nil }
	a = session(t, "a", inDomain)
	handsOut := assigner(t, a, own, nothing)
	open(t, a, as(t, s, "a", heard))
	campaign(t, a, election.RoleConfig{Role: scheduler, Lead: handsOut.Lead})
	w = session(t, "w", inDomain, workerOnly)
	assigner(t, w, measure, nothing)
	open(t, w, as(t, s, "w", heard))
	cfg.StreamAutoCreate = false
	client, err := assign.NewClient(as(t, s, "s", heard), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	outcome(t, submit(t, client, []byte("abc")), 3)
	outcome(t, submitAs(t, handsOut, own, []byte("by a")), len("by a"))
	asks(t, client)
	manages(t, as(t, s, "k", heard), domain)
	return a, w
}

// writes opens the fenced store over the domain, and writes, reads and lists there.
func writes(t *testing.T, s *natsrun.Server, heard *denials) {
	t.Helper()
	js, err := jetstream.NewWithDomain(as(t, s, "f", heard), domain)
	if err != nil {
		t.Fatal(err)
	}
	token := fencing.NewToken(metrics, "b", 1, 0, [16]byte{1})
	store, err := fencing.OpenStore(t.Context(), js, ledger, token)
	if err != nil {
		t.Fatal(err)
	}
	revision, err := store.Put(t.Context(), "k", []byte("1"))
	if err == nil {
		_, err = store.Update(t.Context(), "k", []byte("2"), revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got, err := store.Latest(t.Context(), "k"); err != nil || string(got.Value) != "2" {
		t.Errorf("read %q, %v", got.Value, err)
	}
}

package discovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/natstest/thorough"
)

// catalog is what all agents of a Consul know of one service. The agents speak the documented
// protocol of registrations with a check of a TTL (developer.hashicorp.com/consul/api-docs/agent).
// Consul itself is tried by TestRealConsulLeader.
type catalog struct {
	t *testing.T

	mu        sync.Mutex
	instances map[string]*instanceOf // by node and ID
	index     uint64
	changed   chan struct{}
	highest   uint64
	mayRemove bool                            // instances of other nodes
	fate      func(node int, r *http.Request) // may panic with http.ErrAbortHandler
}

type instanceOf struct {
	Node, ID string
	Meta     map[string]string
	Status   string
}

func newCatalog(t *testing.T) *catalog {
	return &catalog{
		t: t, instances: map[string]*instanceOf{}, mayRemove: true, index: 1, changed: make(chan struct{}),
	}
}

// agent is that of one host.
func (c *catalog) agent(node int) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.fate != nil {
			c.fate(node, r)
		}
		for r.FormValue("index") == fmt.Sprint(c.index) && r.Context().Err() == nil {
			changed := c.changed
			c.mu.Unlock()
			select {
			case <-changed:
			case <-r.Context().Done():
			}
			c.mu.Lock()
		}
		w.Header().Set("X-Consul-Index", fmt.Sprint(c.index))
		c.answer(w, r, body, fmt.Sprint("node-", node))
		c.check()
		if strings.HasSuffix(r.URL.Path, "register") || strings.Contains(r.URL.Path, "/deregister/") {
			c.changes()
		}
	}))
	c.t.Cleanup(s.Close)
	return s.URL
}

// changes lets those know that wait for a change. c.mu is held.
func (c *catalog) changes() {
	c.index++
	close(c.changed)
	c.changed = make(chan struct{})
}

// answer answers to one request. c.mu is held.
func (c *catalog) answer(w http.ResponseWriter, r *http.Request, body []byte, node string) {
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	id := node + "/" + path[strings.LastIndexAny(path, "/:")+1:]
	switch {
	case strings.HasPrefix(path, "health/service/"):
		var all []any
		for _, i := range c.instances {
			all = append(all, map[string]any{
				"Node": map[string]string{"Node": i.Node}, "Service": map[string]any{"ID": i.ID, "Meta": i.Meta},
				"Checks": []any{map[string]string{"Status": "passing"}, map[string]string{"Status": i.Status}},
			})
		}
		_ = json.NewEncoder(w).Encode(all)
	case path == "agent/service/register":
		var in struct {
			ID, Name string
			Port     int
			Meta     map[string]string
			Check    struct{ CheckID, TTL, Status, DeregisterCriticalServiceAfter string }
		}
		if err := json.Unmarshal(body, &in); err != nil || in.Check.CheckID != "service:"+in.ID || in.Port == 0 {
			c.t.Errorf("registers %s: %v", body, err)
		}
		c.instances[node+"/"+in.ID] = &instanceOf{node, in.ID, in.Meta, in.Check.Status}
	case strings.HasPrefix(path, "agent/check/pass/service:"):
		if c.instances[id] == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		c.instances[id].Status = "passing"
	case strings.HasPrefix(path, "agent/service/deregister/"):
		if c.instances[id] == nil {
			w.WriteHeader(http.StatusNotFound)
		}
		delete(c.instances, id)
	case path == "catalog/deregister" && !c.mayRemove:
		w.WriteHeader(http.StatusForbidden)
	case path == "catalog/deregister":
		var in struct{ Node, ServiceID string }
		if err := json.Unmarshal(body, &in); err != nil {
			c.t.Error(err)
		}
		delete(c.instances, in.Node+"/"+in.ServiceID)
	default:
		c.t.Errorf("asked %s", path)
	}
}

// check fails the test if two leaders are announced, or an earlier one than before. c.mu is held.
func (c *catalog) check() {
	var passing []string
	for name, i := range c.instances {
		if i.Status != "passing" || i.Node == "stranger" {
			continue
		}
		passing = append(passing, name)
		epoch, err := strconv.ParseUint(i.Meta["rolemanager-epoch"], 10, 64)
		if err != nil || epoch < c.highest {
			c.t.Errorf("%s after epoch %d: %v", name, c.highest, err)
		}
		c.highest = max(c.highest, epoch)
	}
	if len(passing) > 1 {
		c.t.Errorf("two leaders: %v", passing)
	}
}

// fail lets the check of each instance fail, as when its TTL is over.
func (c *catalog) fail() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances {
		i.Status = "critical"
	}
}

// announced is the node whose leader is announced, "" if there is none.
func (c *catalog) announced() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range c.instances {
		if i.Status == "passing" {
			return i.Node
		}
	}
	return ""
}

func (c *catalog) is(node string) {
	c.t.Helper()
	eventually(c.t, "announced is "+node, func() bool { return c.announced() == node })
}

// leader is how a process announces its leader.
func (c *catalog) leader(node int) ConsulLeader {
	return ConsulLeader{
		Service: "scheduler", Port: 8080, Agent: c.agent(node), TTL: time.Second, OnError: func(error) {}, bucket: "one",
	}
}

// announcements is a Consul with an agent for each process.
type announcements interface {
	leader(node int) ConsulLeader
	announced() string // the node whose leader is announced, "" if there is none
	forget()           // what the agent of node-2 has registered
	left() int         // instances that are registered, passing or not
}

func (c *catalog) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.instances)
}

func (c *catalog) left() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.instances)
}

func TestConsulLeader(t *testing.T) {
	t.Parallel()
	contend(t, newCatalog(t))
}

// contend lets two processes on a real NATS server contend for a role. The leader is announced
// until its term ends, and then the next one.
func contend(t *testing.T, c announcements) {
	s := natstest.Server(t)
	is := func(node string) {
		t.Helper()
		eventually(t, "announced is "+node, func() bool { return c.announced() == node })
	}
	run := func(node int) (stop func()) {
		session, err := election.NewSession(election.SessionConfig{
			Bucket: "roles", BucketAutoCreate: true, InstanceID: fmt.Sprint(node), TTL: time.Second,
		})
		if err != nil {
			t.Fatal(err)
		}
		e, err := session.Campaign(election.RoleConfig{Role: "scheduler"})
		if err != nil {
			t.Fatal(err)
		}
		if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatal(err)
		}
		l := c.leader(node)
		l.Session, l.bucket = session, ""
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- e.Run(ctx, l.Lead(func(ctx context.Context, _ *election.Term) error {
				if node == 2 && c.announced() == "node-1" {
					t.Error("the role was given away while the former leader was announced")
				}
				<-ctx.Done()
				return nil
			}))
		}()
		return func() {
			cancel()
			if err := errors.Join(<-done, session.Close(context.WithoutCancel(ctx))); err != nil {
				t.Error(err)
			}
		}
	}
	first := run(1)
	is("node-1")
	second := run(2)
	first()
	is("node-2")
	c.forget()
	is("node-2")
	second()
	is("")
	if n := c.left(); n > 0 {
		t.Errorf("%d instances are left", n)
	}
}

// lead leads in a term of its own until it is ended.
func lead(t *testing.T, l ConsulLeader) (end func(error), over chan struct{}) {
	t.Helper()
	ctx, term, end := electiontest.NewTerm(t, "scheduler")
	over = make(chan struct{})
	work := l.Lead(func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		return nil
	})
	go func() {
		defer close(over)
		_ = work(ctx, term) // that of a test of the configuration
	}()
	t.Cleanup(func() {
		end(election.ErrClosed)
		<-over
	})
	return end, over
}

// TestConsulLeaderThatDied: the instance of a process that has died is removed by the next leader,
// or that one waits for its check to fail.
func TestConsulLeaderThatDied(t *testing.T) {
	thorough.Only(t, "it waits for checks to fail")
	t.Parallel()
	for _, may := range []bool{true, false} {
		c := newCatalog(t)
		c.mayRemove = may
		end, over := lead(t, c.leader(1))
		c.is("node-1")
		c.mu.Lock()
		c.fate = func(node int, _ *http.Request) {
			if node == 1 {
				panic(http.ErrAbortHandler) // it says nothing any more
			}
		}
		c.mu.Unlock()
		end(election.ErrSessionLost)
		<-over
		told := make(chan error, 1)
		l := c.leader(2)
		l.OnError = func(err error) {
			select {
			case told <- err:
			default:
			}
		}
		end, over = lead(t, l)
		if !may {
			if err := <-told; !strings.Contains(err.Error(), "is still announced") {
				t.Error(err)
			}
			c.is("node-1")
			c.fail()
		}
		c.is("node-2")
		end(election.ErrClosed)
		<-over
	}
}

// TestConsulLeaderThatIsLate: a registration of a former leader that arrives late is removed at
// once, and not when the next look is due.
func TestConsulLeaderThatIsLate(t *testing.T) {
	t.Parallel()
	c := newCatalog(t)
	l := c.leader(1)
	l.TTL = time.Hour
	lead(t, l)
	c.is("node-1")
	c.mu.Lock()
	meta := map[string]string{"rolemanager-role": "scheduler", "rolemanager-bucket-id": "one", "rolemanager-epoch": "0"}
	c.instances["stranger/x"] = &instanceOf{"stranger", "x", meta, "passing"}
	c.changes()
	c.mu.Unlock()
	eventually(t, "it is removed", func() bool { return c.left() == 1 })
}

// TestConsulLeaderGivesWay: an announcement of a later term ends this one, and so does one that is
// not of the role.
func TestConsulLeaderGivesWay(t *testing.T) {
	meta := func(role, bucket, epoch string) map[string]string {
		return map[string]string{"rolemanager-role": role, "rolemanager-bucket-id": bucket, "rolemanager-epoch": epoch}
	}
	for what, test := range map[string]struct {
		meta map[string]string
		want error
	}{
		"later":          {meta("scheduler", "one", "99999999999999999"), ErrStale},
		"another role":   {meta("billing", "one", "1"), ErrForeign},
		"nobody's":       {nil, ErrForeign},
		"another bucket": {meta("scheduler", "two", "1"), ErrForeign},
		"no epoch":       {meta("scheduler", "one", "x"), ErrForeign},
	} {
		c := newCatalog(t)
		c.instances["stranger/x"] = &instanceOf{"stranger", "x", test.meta, "passing"}
		told := make(chan error, 100)
		l := c.leader(1)
		l.OnError = func(err error) { told <- err }
		c.fate = func(_ int, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/register") {
				t.Errorf("%s: registers", what)
			}
		}
		ctx, term, end := electiontest.NewTerm(t, "scheduler")
		if err := l.Lead(func(context.Context, *election.Term) error {
			select {
			case err := <-told:
				if !errors.Is(err, test.want) {
					t.Errorf("%s: %v, want %v", what, err, test.want)
				}
			case <-time.After(time.Minute):
				t.Errorf("%s: nothing is told, want %v", what, test.want)
			}
			end(election.ErrClosed)
			return nil
		})(ctx, term); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for field, l := range map[string]ConsulLeader{
		"Session": {Service: "a", Port: 1}, "Service": {bucket: "one", Port: 1}, "Port": {bucket: "one", Service: "a"},
		"Agent": {bucket: "one", Service: "a", Port: 1, Agent: "unix:///x"},
	} {
		ctx, term, _ := electiontest.NewTerm(t, "scheduler")
		err := l.Lead(nil)(ctx, term)
		if fault, is := errors.AsType[*ConfigError](err); !is || fault.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

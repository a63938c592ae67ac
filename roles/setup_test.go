package roles_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// patience is how long a test waits for thousands of roles, in real time on a slow machine too.
const patience = 5 * time.Minute

// node is a manager that runs, with a path to the server of its own.
type node struct {
	*roles.Manager
	t     *testing.T
	link  *natsrun.Link
	logs  *observer.ObservedLogs
	stop  context.CancelFunc
	ended chan error // what Run has returned, once
}

// config is that of one process of the tests: all defaults, but for a short TTL.
func config(s *natsrun.Server, id string, options ...nats.Option) roles.Config {
	return roles.Config{
		URL: s.URL(), NATSOptions: append([]nats.Option{nats.SetCustomDialer(s)}, options...),
		Bucket: "roles", BucketAutoCreate: true, InstanceID: id, TTL: time.Second,
	}
}

// start runs a manager along a link until the test ends or stops it. Each edit changes the
// configuration.
func start(t *testing.T, s *natsrun.Server, id string, all []roles.Role, edits ...func(*roles.Config)) *node {
	t.Helper()
	core, logs := observer.New(zapcore.DebugLevel)
	link := s.Link()
	cfg := config(s, id, link.Options()...)
	cfg.Logger = zap.New(core)
	for _, edit := range edits {
		edit(&cfg)
	}
	m, err := roles.New(cfg, all...)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{Manager: m, t: t, link: link, logs: logs}
	n.run()
	return n
}

func (n *node) run() {
	ctx, stop := context.WithCancel(context.Background())
	n.stop, n.ended = stop, make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.ended <- n.Run(ctx)
	}()
	n.t.Cleanup(func() {
		stop()
		<-done
	})
}

// end stops the manager and returns the error of Run.
func (n *node) end() error {
	n.t.Helper()
	n.stop()
	return n.result()
}

func (n *node) result() error {
	n.t.Helper()
	return receive(n.t, "Run returns", n.ended)
}

func (n *node) status(role string) roles.RoleStatus {
	for _, r := range n.Status().Roles {
		if r.Name == role {
			return r
		}
	}
	return roles.RoleStatus{}
}

// sees waits until the node's status of a role is as wanted.
func (n *node) sees(role, what string, is func(roles.RoleStatus) bool) {
	n.t.Helper()
	natstest.Eventually(n.t, what, time.Minute, func() (bool, string) {
		st := n.status(role)
		return is(st), fmt.Sprintf("%+v", st)
	})
}

// follows waits until the node sees leader lead the role.
func (n *node) follows(role, leader string) {
	n.t.Helper()
	n.sees(role, fmt.Sprintf("%s sees %q lead %s", n.Session().Instance(), leader, role), func(st roles.RoleStatus) bool {
		return st.LeaderID == leader && st.State != "INIT"
	})
}

// logged waits until the log has a line with that message, and returns the last one.
func (n *node) logged(message string) observer.LoggedEntry {
	n.t.Helper()
	var lines []observer.LoggedEntry
	natstest.Eventually(n.t, "logged: "+message, time.Minute, func() (bool, string) {
		lines = n.logs.FilterMessageSnippet(message).All()
		return len(lines) > 0, fmt.Sprint(n.logs.Len(), " lines")
	})
	return lines[len(lines)-1]
}

// work is a Lead that reports its beginning and end, and returns when the test says so.
type work struct {
	began chan *election.Term // a term has begun; room for more than any test has
	ended chan error          // the cause of the end of its context
	hold  chan struct{}       // when set: it does not return before this is closed
	quit  chan error          // makes it return early
}

func newWork() *work {
	return &work{began: make(chan *election.Term, 2048), ended: make(chan error, 2048), quit: make(chan error)}
}

func (w *work) lead(ctx context.Context, t *election.Term) error {
	w.began <- t
	select {
	case <-ctx.Done():
	case err := <-w.quit:
		if err, ok := err.(panicking); ok {
			panic(err)
		}
		return err
	}
	w.ended <- context.Cause(ctx)
	if w.hold != nil {
		<-w.hold
	}
	return nil
}

// role is one with this work.
func (w *work) role(name string) roles.Role { return roles.Role{Name: name, Lead: w.lead} }

// panicking makes the work panic.
type panicking struct{ error }

func one(r roles.Role) []roles.Role { return []roles.Role{r} }

// receive takes the next value, and ends the test when none comes within a minute.
func receive[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatalf("%s: the channel was closed", what)
		}
		return v
	case <-time.After(time.Minute):
		t.Fatalf("not within a minute: %s", what)
	}
	panic("not reached")
}

// none fails the test when a value is there.
func none[T any](t *testing.T, what string, from <-chan T) {
	t.Helper()
	select {
	case v := <-from:
		t.Errorf("%s: got %v, want nothing", what, v)
	default:
	}
}

// bound is a context for one call.
func bound(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

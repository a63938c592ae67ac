package election_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

const bucket = "roles"

// instance is the configuration of one process of the tests: all defaults, but for a short TTL.
func instance(id string) election.SessionConfig {
	return election.SessionConfig{Bucket: bucket, BucketAutoCreate: true, InstanceID: id, TTL: time.Second}
}

// open opens a session, on a connection of its own, that is closed when the test ends.
func open(t *testing.T, s *natsrun.Server, cfg election.SessionConfig, opts ...nats.Option) *election.Session {
	t.Helper()
	session := unopened(t, cfg)
	if err := session.Open(t.Context(), natstest.Connect(t, s, opts...)); err != nil {
		t.Fatalf("open %s: %v", cfg.InstanceID, err)
	}
	return session
}

// unopened makes a session that is closed when the test ends.
func unopened(t *testing.T, cfg election.SessionConfig) *election.Session {
	t.Helper()
	session, err := election.NewSession(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(context.Background()) }) // the test closes it itself where that matters
	return session
}

// part is one process's part in a role, and what its work has seen.
type part struct {
	*election.Election
	began chan *election.Term  // a term has begun; room for more terms than any of the tests has
	ctxs  chan context.Context // of the same
	ended chan error           // why the context of the work ended
}

// campaign takes part in a role with work that does nothing until its context ends.
func campaign(t *testing.T, session *election.Session, cfg election.RoleConfig) *part {
	t.Helper()
	p := newPart()
	cfg.Lead = p.work
	var err error
	if p.Election, err = session.Campaign(cfg); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return p
}

func newPart() *part {
	return &part{
		began: make(chan *election.Term, 64), ctxs: make(chan context.Context, 64), ended: make(chan error, 64),
	}
}

func (p *part) work(ctx context.Context, term *election.Term) error {
	p.began <- term
	p.ctxs <- ctx
	<-ctx.Done()
	p.ended <- context.Cause(ctx)
	return nil
}

// lead is campaign, and waits until the role is won.
func lead(t *testing.T, session *election.Session, cfg election.RoleConfig) (*part, *election.Term) {
	t.Helper()
	p := campaign(t, session, cfg)
	return p, receive(t, session.Instance()+" leads "+cfg.Role, p.began)
}

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

// none fails the test when there is a value to be had.
func none[T any](t *testing.T, what string, from <-chan T) {
	t.Helper()
	select {
	case v := <-from:
		t.Errorf("%s: got %v, want nothing", what, v)
	default:
	}
}

// after turns the closing of a channel into a value.
func after(done <-chan struct{}) <-chan struct{} {
	c := make(chan struct{}, 1) // nobody may be waiting
	go func() {
		<-done
		c <- struct{}{}
	}()
	return c
}

// within bounds a call.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// observe watches the bucket until the test ends.
func observe(t *testing.T, s *natsrun.Server, opts ...election.ObserveOption) *election.Observer {
	t.Helper()
	o, err := election.Observe(t.Context(), natstest.Connect(t, s), bucket, opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

// sees waits until an observer says about a role what is wanted.
func sees(t *testing.T, o *election.Observer, role, what string, is func(election.RoleInfo) bool) election.RoleInfo {
	t.Helper()
	var info election.RoleInfo
	natstest.Eventually(t, "the observer sees "+role+" "+what, time.Minute, func() (bool, string) {
		info, _ = o.Role(role)
		return is(info), sprint(info)
	})
	return info
}

func ledBy(id string) func(election.RoleInfo) bool {
	return func(info election.RoleInfo) bool { return info.Leader == id }
}

// untilReleased is work that ignores its context.
func (p *part) untilReleased(release <-chan struct{}) func(context.Context, *election.Term) error {
	return func(_ context.Context, term *election.Term) error {
		p.began <- term
		<-release
		return nil
	}
}

// controlOf is where an instance takes requests: a subject with the id of the bucket that nc leads
// to.
func controlOf(t *testing.T, nc *nats.Conn, instance string) string {
	t.Helper()
	b, err := natskv.Open(t.Context(), nc, bucket)
	if err != nil {
		t.Fatal(err)
	}
	return record.ControlSubject(bucket, b.Identity().ID, instance)
}

package election_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func small(o *natsrun.Options) {
	o.Configure = func(so *server.Options) { so.MaxPayload = 8 << 10 }
}

func tooLarge(t *testing.T, what string, err error) *election.TooLargeError {
	t.Helper()
	var fault *election.TooLargeError
	if !errors.As(err, &fault) || fault.Limit <= 0 || fault.Size <= fault.Limit {
		t.Fatalf("%s: %v, want a *TooLargeError with size and limit", what, err)
	}
	return fault
}

// fill takes part in roles until there is no room for another.
func fill(t *testing.T, session *election.Session) (all []*part) {
	t.Helper()
	for i := range 1000 {
		p := newPart()
		var err error
		role := fmt.Sprintf("tenant/550e8400-e29b-41d4-a716-%012d", i)
		p.Election, err = session.Campaign(election.RoleConfig{Role: role, Lead: p.work})
		if err != nil {
			tooLarge(t, "campaign", err)
			return all
		}
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	t.Fatal("there is room for everything")
	return nil
}

// TestOneRoleTooMany: what does not fit into the member record is refused, and everything else
// lives on. There is room again when a role is left.
func TestOneRoleTooMany(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		all := fill(t, session)
		tooLarge(t, "meta", session.SetMeta(t.Context(), map[string]string{"k": strings.Repeat("v", 500)}))
		terms := make([]*election.Term, len(all))
		for i, p := range all {
			terms[i] = receive(t, "a term", p.began)
		}
		o := observe(t, s)
		natstest.Eventually(t, "the record names all roles", time.Minute, func() (bool, string) {
			m := o.Members()
			return len(m) == 1 && len(m[0].Roles) == len(all), sprint(len(m))
		})
		time.Sleep(time.Minute)
		for _, term := range terms {
			if !term.Valid() {
				t.Fatalf("the term of %s has ended", term.Role())
			}
		}
		for _, p := range all[:8] {
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
		}
		if err := session.SetMeta(t.Context(), map[string]string{"k": strings.Repeat("v", 300)}); err != nil {
			t.Error(err)
		}
		if len(all) < 80 {
			t.Errorf("room for %d roles", len(all))
		}
	}, small)
}

// TestTooLargeToOpen: a record that does not fit from the beginning keeps the session from opening.
func TestTooLargeToOpen(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.Meta = map[string]string{"k": strings.Repeat("v", 9<<10)}
		tooLarge(t, "open", unopened(t, cfg).Open(t.Context(), natstest.Connect(t, s)))
	}, small)
}

// TestLimitThatFalls: the bucket takes smaller messages from now on. The record that stands is too
// large for another version. Terms live on, what is described is refused, and a role can be left.
func TestLimitThatFalls(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var sink recorder
		cfg := instance("a")
		cfg.Meta, cfg.Sinks = map[string]string{"k": strings.Repeat("v", 2000)}, []event.Sink{&sink}
		session := open(t, s, cfg)
		p, term := lead(t, session, election.RoleConfig{Role: "r"})
		b := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "r"})
		js := natstest.JetStream(t, s)
		stream, err := js.Stream(t.Context(), "KV_"+bucket)
		if err != nil {
			t.Fatal(err)
		}
		limit := func(n int32) {
			changed := stream.CachedInfo().Config
			changed.MaxMsgSize = n
			if _, err := js.UpdateStream(t.Context(), changed); err != nil {
				t.Fatal(err)
			}
		}
		limit(1500)
		meta := map[string]string{"k": strings.Repeat("w", 2000)}
		if fault := tooLarge(t, "meta", session.SetMeta(t.Context(), meta)); fault.Limit > 1500 {
			t.Errorf("%+v", fault)
		}
		time.Sleep(time.Minute)
		if !term.Valid() {
			t.Fatal("the term has ended")
		}
		if len(ofType[event.Fault](&sink)) == 0 {
			t.Error("nobody is told")
		}
		if err := p.StepDown(within(t, 10*time.Second)); err != nil {
			t.Errorf("step down: %v", err)
		}
		receive(t, "b leads", b.began)
		limit(-1)
		natstest.Eventually(t, "the record is written again", time.Minute, func() (bool, string) {
			err := session.SetMeta(t.Context(), map[string]string{"k": "x"})
			return err == nil, sprint(err)
		})
	})
}

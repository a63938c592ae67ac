package election_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// site is a process that takes part in "local" of a site's bucket, and while it leads that in
// "global" of the bucket of all sites.
type site struct {
	local, global *part
	link          *natsrun.Link // of the session of "local" alone
}

// at starts such a process. The lease in the bucket of all sites is as long as given.
func at(t *testing.T, s *natsrun.Server, bucket, id string, ttl time.Duration) *site {
	t.Helper()
	x := &site{link: s.Link()}
	here, all := instance(id), instance(id)
	here.Bucket, all.TTL = bucket, ttl
	x.local = campaign(t, open(t, s, here, x.link.Options()...), election.RoleConfig{Role: "local"})
	x.global = campaign(t, open(t, s, all),
		election.RoleConfig{Role: "global", While: x.local.Election})
	return x
}

// TestWhile: a role that depends on another one is led by a process that leads the other one, and
// by no other; its term ends with the other term, by a step-down as by the deadline of the other
// session, and is valid for no longer. Those that wait say so.
func TestWhile(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		const long = 10 * time.Second
		a := at(t, s, "dc1", "a", long)
		term := receive(t, "a leads global", a.global.began)
		local := receive(t, "a leads local", a.local.began)
		b := at(t, s, "dc1", "b", long)
		o := observe(t, s)
		sees(t, o, "global", "b waits", func(i election.RoleInfo) bool {
			return len(i.Waiting) == 1 && i.Waiting[0] == election.Waiting{Instance: "b", For: "local@dc1"} &&
				len(i.Candidates) == 1
		})
		if st := b.global.Status(); st.Reason != "waits for local@dc1" || st.State != election.StateFollower {
			t.Errorf("b: %+v", st)
		}

		// The session of "local" loses its link; the other one has its own, and a longer lease.
		c := at(t, s, "dc2", "c", long)
		receive(t, "c leads local of its own site", c.local.began)
		a.link.Cut()
		cut := time.Now()
		for over := false; !over; time.Sleep(time.Millisecond) {
			over = !local.Valid()
			if over && term.Valid() {
				t.Fatal("global is trusted, and local is not any more")
			}
			if took := time.Since(cut); took > time.Second {
				t.Fatalf("still trusted after %v", took)
			}
		}
		if err := receive(t, "the work ends", a.global.ended); !errors.Is(err, election.ErrConditionEnded) {
			t.Errorf("ended by %v", err)
		}
		next := receive(t, "c leads global", c.global.began)
		if took := time.Since(cut); took > 2*time.Second {
			t.Errorf("c leads after %v, its lease is of %v", took, long)
		}
		if err := term.Validate(t.Context()); !errors.Is(err, election.ErrNotLeader) {
			t.Errorf("the term that is over: %v", err)
		}
		receive(t, "b leads local", b.local.began)

		// It moves to a process that leads local.
		if err := c.local.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "the work ends", c.global.ended); !errors.Is(err, election.ErrConditionEnded) || next.Valid() {
			t.Errorf("ended by %v, valid %v", err, next.Valid())
		}
		receive(t, "b leads global", b.global.began)
		a.link.Heal()
		none(t, "a leads global", a.global.began)
	})
}

// TestWhileInOneSession: roles of one session can depend on each other too, in a chain.
func TestWhileInOneSession(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session := open(t, s, instance("a"))
		first := campaign(t, session, election.RoleConfig{Role: "first"})
		second := campaign(t, session, election.RoleConfig{Role: "second", While: first.Election})
		third := campaign(t, session, election.RoleConfig{Role: "third", While: second.Election})
		receive(t, "leads first", first.began)
		receive(t, "leads second", second.began)
		term := receive(t, "leads third", third.began)
		time.Sleep(10 * time.Second) // through many heartbeats
		if !term.Valid() {
			t.Fatal("the term has not lasted")
		}
		if err := first.StepDown(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, p := range []*part{second, third} {
			if err := receive(t, "the work ends", p.ended); !errors.Is(err, election.ErrConditionEnded) {
				t.Errorf("ended by %v", err)
			}
		}
		if term.Valid() {
			t.Error("still valid")
		}
		receive(t, "leads first again", first.began) // after the cool-down
		receive(t, "leads third again", third.began)

		// An election that has stopped never leads again, and no other can depend on it.
		if err := second.Stop(); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "the work ends", third.ended); !errors.Is(err, election.ErrConditionEnded) {
			t.Errorf("ended by %v", err)
		}
		_, err := session.Campaign(election.RoleConfig{Role: "fourth", While: second.Election, Lead: third.work})
		if fault := (*election.ConfigError)(nil); !errors.As(err, &fault) || fault.Field != "While" {
			t.Errorf("a role that depends on one which has stopped: %v", err)
		}
	})
}

// TestWhileOpensLater: a role waits for another one whose session opens later, ends, and is not
// there any more.
func TestWhileOpensLater(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.Bucket = "dc1"
		here := unopened(t, cfg)
		local := campaign(t, here, election.RoleConfig{Role: "local"})
		global := campaign(t, open(t, s, instance("a")), election.RoleConfig{Role: "global", While: local.Election})
		time.Sleep(5 * time.Second)
		none(t, "leads global without local", global.began)
		if err := here.Open(t.Context(), natstest.Connect(t, s)); err != nil {
			t.Fatal(err)
		}
		term := receive(t, "leads global", global.began)
		if err := here.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := receive(t, "the work ends", global.ended); !errors.Is(err, election.ErrConditionEnded) || term.Valid() {
			t.Errorf("ended by %v, valid %v", err, term.Valid())
		}
		if err := global.Stop(); err != nil {
			t.Error(err)
		}
	})
}

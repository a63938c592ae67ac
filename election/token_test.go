package election_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestTokenIsZeroWhenNotLeading(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		session := open(t, s, instance("a"), link.Options()...)
		p := newPart()
		var err error
		if p.Election, err = session.Campaign(election.RoleConfig{Role: "scheduler", Lead: p.work}); err != nil {
			t.Fatal(err)
		}
		if !p.Token().IsZero() || p.IsLeader() {
			t.Errorf("before the start: %v", p.Token())
		}
		term := p.start(t)
		token := p.Token()
		if !token.Equal(term.Token()) || token.Epoch != term.Epoch() || term.Role() != "scheduler" ||
			time.Since(term.Since()) > time.Second {
			t.Errorf("token %+v of term %+v since %v", token, term.Token(), term.Since())
		}
		if again, err := fencing.Parse(token.Encode()); err != nil || !again.Equal(token) {
			t.Errorf("encoded and parsed: %v, %v", again, err)
		}
		link.Cut()
		receive(t, "end of the term", p.ended)
		if !p.Token().IsZero() || p.IsLeader() || term.Valid() {
			t.Errorf("after the loss: %v", p.Token())
		}
		if !term.Token().Equal(token) {
			t.Error("the ended term has forgotten its token, which what is on its way still carries")
		}
		link.Heal()
		if next := receive(t, "next term", p.began); next.Token().SameID(token) || next.Token().Compare(token) <= 0 {
			t.Errorf("next token %v after %v", next.Token(), token)
		}
	})
}

// TestRotation: epoch and token change, the term continues, and the server refuses what carries the
// old epoch.
func TestRotation(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		cfg := instance("a")
		cfg.RotationInterval = 10 * time.Second
		session, sink := watched(t, s, cfg, nil)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		first := term.Token()
		since := term.Since()
		var guard fencing.Guard
		if err := guard.Admit(first); err != nil {
			t.Fatal(err)
		}
		for range 61 {
			time.Sleep(time.Second)
			if !p.IsLeader() || !term.Valid() {
				t.Fatal("the term was interrupted")
			}
		}
		last := term.Token()
		if last.Compare(first) <= 0 || last.SameID(first) || !p.Token().Equal(last) || !term.Since().Equal(since) {
			t.Errorf("token %+v after %+v", last, first)
		}
		if n := len(ofType[event.RoleRotated](sink)); n != 6 {
			t.Errorf("%d rotations in 61 s, want 6", n)
		}
		if err := errors.Join(guard.Admit(term.Token()), term.Validate(t.Context())); err != nil {
			t.Errorf("after the rotations: %v", err)
		}
		if err := guard.Admit(first); !errors.Is(err, fencing.ErrStale) {
			t.Errorf("the first token is admitted: %v", err)
		}
		none(t, "end of the term", p.ended)
		none(t, "another term", p.began)
		if err := p.StepDown(t.Context()); err != nil { // also at the rotated epoch
			t.Error(err)
		}
		synctest.Wait() // the sinks have a goroutine of their own
		if d := ofType[event.RoleDemoted](sink); len(d) != 1 || d[0].Epoch != last.Epoch {
			t.Errorf("demoted: %+v, want epoch %d", d, last.Epoch)
		}
	})
}

func TestValidate(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		session, sink := watched(t, s, instance("a"), link)
		p, term := lead(t, session, election.RoleConfig{Role: "scheduler"})
		if ok, err := p.ValidateToken(t.Context()); !ok || err != nil {
			t.Errorf("of the leader: %v, %v", ok, err)
		}
		if !p.ValidateTokenOrDemote(t.Context()) {
			t.Error("of the leader: demoted")
		}
		follower := campaign(t, open(t, s, instance("b")), election.RoleConfig{Role: "scheduler"})
		if ok, err := follower.ValidateToken(t.Context()); ok || err != nil {
			t.Errorf("of a follower: %v, %v", ok, err)
		}
		if follower.ValidateTokenOrDemote(t.Context()) {
			t.Error("of a follower: true")
		}

		link.Hold(natsrun.ToClient) // no answer
		ok, err := p.ValidateToken(t.Context())
		if ok || !errors.Is(err, election.ErrUnproven) {
			t.Errorf("without an answer: %v, %v", ok, err)
		}
		if !p.IsLeader() {
			t.Error("no answer proves nothing")
		}
		link.Heal()
		natstest.Eventually(t, "validated again", 500*time.Millisecond, func() (bool, string) {
			err := term.Validate(t.Context())
			return err == nil, sprint(err)
		})
		natstest.Eventually(t, "four proofs are reported", time.Minute, func() (bool, string) {
			validated := ofType[event.TokenValidated](sink)
			return len(validated) == 4 && validated[0].OK && validated[0].Epoch == term.Epoch(), sprint(validated)
		})
		stop(t, p)
		if err := term.Validate(t.Context()); !errors.Is(err, election.ErrNotLeader) {
			t.Errorf("of an ended term: %v, want %v", err, election.ErrNotLeader)
		}
	})
}

// TestValidateDisproves: the server knows of the eviction, this process does not, because its watch
// is held up.
func TestValidateDisproves(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		p, term := lead(t, open(t, s, instance("a"), link.Options()...), election.RoleConfig{Role: "scheduler"})
		o := observe(t, s)
		link.DelayDir(natsrun.ToClient, 100*time.Millisecond)
		if err := o.Evict(t.Context(), "scheduler", term.Epoch()); err != nil {
			t.Fatal(err)
		}
		if !p.IsLeader() {
			t.Fatal("the eviction is known already; the delay is too short")
		}
		ok, err := p.ValidateToken(t.Context())
		if ok || err != nil {
			t.Errorf("validated: %v, %v; want a disproof", ok, err)
		}
		if got := receive(t, "cause", p.ended); !errors.Is(got, election.ErrEvicted) {
			t.Errorf("cause %v", got)
		}
	})
}

func TestValidateOrDemoteEndsTheTermNow(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		link := s.Link()
		cfg := instance("a")
		cfg.TTL = 10 * time.Second
		p, term := lead(t, open(t, s, cfg, link.Options()...), election.RoleConfig{Role: "scheduler"})
		link.Hold(natsrun.ToClient)
		if p.ValidateTokenOrDemote(within(t, 300*time.Millisecond)) {
			t.Error("validated without an answer")
		}
		if p.IsLeader() || term.Valid() || !p.Token().IsZero() {
			t.Error("still leads when the call has returned")
		}
		link.Heal()
	})
}

// TestValidationInterval: leadership that was taken behind our back is noticed by the next proof.
func TestValidationInterval(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		session, sink := watched(t, s, instance("a"), nil)
		p, _ := lead(t, session, election.RoleConfig{Role: "scheduler", ValidationInterval: time.Second})
		time.Sleep(10*time.Second + 500*time.Millisecond)
		if n := len(ofType[event.TokenValidated](sink)); n != 10 {
			t.Errorf("%d proofs in 10.5 s, want 10", n)
		}
		stop(t, p)
		time.Sleep(10 * time.Second)
		if n := len(ofType[event.TokenValidated](sink)); n != 10 {
			t.Errorf("%d proofs, some after the term", n)
		}
	})
}

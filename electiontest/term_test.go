package electiontest_test

import (
	"context"
	"errors"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
	"github.com/rolemanager/rolemanager/fencing"
)

func TestNewTerm(t *testing.T) {
	ctx, term, end := electiontest.NewTerm(t, "scheduler")
	if ctx.Err() != nil || !term.Valid() || term.Role() != "scheduler" || term.Since().IsZero() ||
		term.Validate(ctx) != nil {
		t.Errorf("a new term: context %v, valid %v, role %q, validated %v", ctx.Err(), term.Valid(), term.Role(),
			term.Validate(ctx))
	}
	token := term.Token()
	if token.Role != "scheduler" || token.Holder == "" || token.Epoch == 0 || token.Epoch != term.Epoch() {
		t.Errorf("token %v", token)
	}
	if again, err := fencing.Parse(token.Encode()); err != nil || !again.Equal(token) {
		t.Errorf("its encoding reads as %v, %v", again, err)
	}

	end(election.ErrSteppedDown)
	<-ctx.Done()
	if cause := context.Cause(ctx); !errors.Is(cause, election.ErrSteppedDown) {
		t.Errorf("cause %v, want %v", cause, election.ErrSteppedDown)
	}
	if term.Valid() || !errors.Is(term.Validate(t.Context()), election.ErrNotLeader) {
		t.Errorf("after the end: valid %v, validated %v", term.Valid(), term.Validate(t.Context()))
	}
	end(election.ErrSessionLost) // the first end counts
	if cause := context.Cause(ctx); !errors.Is(cause, election.ErrSteppedDown) {
		t.Errorf("cause %v after a second end", cause)
	}
	if !term.Token().Equal(token) {
		t.Error("an ended term has lost its token")
	}
}

func TestTermsFollowEachOther(t *testing.T) {
	var guard fencing.Guard
	_, first, _ := electiontest.NewTerm(t, "scheduler")
	_, second, _ := electiontest.NewTerm(t, "scheduler")
	if err := errors.Join(guard.Admit(first.Token()), guard.Admit(second.Token())); err != nil {
		t.Error(err)
	}
	if err := guard.Admit(first.Token()); !errors.Is(err, fencing.ErrStale) {
		t.Errorf("the first term's token after the second's: %v, want %v", err, fencing.ErrStale)
	}
}

// TestTermEndsWithTheTest: work that a test has left behind is stopped.
func TestTermEndsWithTheTest(t *testing.T) {
	var ctx context.Context
	var term *election.Term
	t.Run("inner", func(t *testing.T) { ctx, term, _ = electiontest.NewTerm(t, "scheduler") })
	if cause := context.Cause(ctx); !errors.Is(cause, election.ErrClosed) || term.Valid() {
		t.Errorf("cause %v, valid %v", cause, term.Valid())
	}
}

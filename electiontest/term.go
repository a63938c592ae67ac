package electiontest

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

var epochs atomic.Uint64

// NewTerm returns a term of a role as a Lead function gets it, with its context. The term is valid
// until the test is over, or until end is called with the cause of its end
// (election.ErrSessionLost, election.ErrSteppedDown, …). Its context is then cancelled with that
// cause. Each term of a process has a larger epoch than the term before.
func NewTerm(tb testing.TB, role string) (ctx context.Context, t *election.Term, end func(cause error)) {
	tb.Helper()
	ctx, term, end := bridge.NewTerm(context.Background(), role, epochs.Add(1))
	tb.Cleanup(func() { end(election.ErrClosed) })
	return ctx, term.(*election.Term), end
}

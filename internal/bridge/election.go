package bridge

import (
	"context"

	"github.com/rolemanager/rolemanager/internal/clock"
)

var (
	// NewTerm makes an *election.Term that is valid until end is called.
	NewTerm func(parent context.Context, role string, epoch uint64) (ctx context.Context, term any, end func(cause error))
	// SetClock gives an *election.SessionConfig another clock.
	SetClock func(sessionConfig any, c clock.Clock)
)

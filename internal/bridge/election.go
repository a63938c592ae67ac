package bridge

import (
	"context"
	"time"

	"github.com/rolemanager/rolemanager/internal/clock"
)

var (
	// NewTerm makes an *election.Term that is valid until end is called.
	NewTerm func(parent context.Context, role string, epoch uint64) (ctx context.Context, term any, end func(cause error))
	// SetClock gives an *election.SessionConfig another clock.
	SetClock func(sessionConfig any, c clock.Clock)
)

// The other packages of this module use these parts of an election.Session, which users do not
// need.
var (
	// LeaseOf returns the whole of an election.Host. The caller asserts it to an interface of the
	// methods that it needs.
	LeaseOf func(host any) any
	// AttachOnce is Session.Attach for a service that a session may have only once. Run is a
	// func(context.Context, election.Host) error. Errors: election.ErrAttached, election.ErrClosed.
	AttachOnce func(session any, name string, run any) error
	// Offer makes room in the member record for what is about to be offered in a namespace. Errors:
	// *election.TooLargeError.
	Offer func(session any, namespace string, slots int, kinds []string, labels map[string]string,
		build string) error
	// Number is the number of the session's present lease, 0 for none.
	Number func(session any) uint64
	// Waits says what keeps the session from opening, as far as is known; "" for nothing.
	Waits func(session any) string
	// Unopened is why the session could not open its bucket the last time, nil if it could or has not
	// tried.
	Unopened func(session any) error
	// TrustedFor is how much longer the session is trusted if no other answer comes. It is negative
	// when the lease is over.
	TrustedFor func(session any) time.Duration
	// ClosesWithin bounds how long Session.Close takes when each of its steps takes all the time
	// that it may take.
	ClosesWithin func(session any) time.Duration
	// Fault reports an event.Fault of the session.
	Fault func(session any, doing string, err error)
	// CheckShards records or compares how many shards a group has, for some seconds at most. Before
	// the session has reached its bucket it returns nil: the opening checks the group.
	CheckShards func(session any, group string, n int) error
)

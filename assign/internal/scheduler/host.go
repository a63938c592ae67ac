package scheduler

import (
	"context"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
)

// Host is the lease under which a term runs: what the scheduler uses of it. Package election documents
// the methods. See bridge.LeaseOf.
type Host interface {
	Conn() *nats.Conn
	Instance() string
	Session() uint64
	Config() election.SessionConfig
	Signer() *fencing.Signer

	Members() []election.MemberInfo
	Changed() <-chan struct{}
	Dead(instance string, workerOnly bool, session uint64) bool
	Closed(instance string, workerOnly bool, session uint64) bool
	Widen(ctx context.Context, role string, epoch uint64) (release func(), err error)

	Emit(event.Event)
	Meta() event.Meta
}

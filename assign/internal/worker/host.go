package worker

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
)

// Host is the part of a lease that a worker uses. Package election documents the methods. See
// bridge.LeaseOf.
type Host interface {
	Conn() *nats.Conn
	Instance() string
	Session() uint64
	BucketID() string
	Config() election.SessionConfig
	Signer() *fencing.Signer

	Role(name string) (election.RoleInfo, bool)
	Changed() <-chan struct{}
	Trusted() bool
	Awake(ctx context.Context) error
	Busy(busy bool)
	Describe(ctx context.Context, namespace string, w *election.Workplace) error
	Tell(namespace string, what []byte) error
	Refresh()
	Drains(d time.Duration)
	End(reason string)

	Emit(event.Event)
	Meta() event.Meta
}

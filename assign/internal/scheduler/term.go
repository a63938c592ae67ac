package scheduler

import (
	"context"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/natskv"
	protocolrecord "github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// term is what every part knows of the term that it serves. All but epoch and proofs stays as it is
// made.
type term struct {
	cfg    Config
	host   Host
	lead   *election.Term
	conn   *nats.Conn
	stream *natskv.Stream
	work   record.Work
	talk   record.Talk
	rules  *tasks.Scheduler // parts read it; only the loop's step changes it
	began  time.Time
	first  uint64        // the epoch at which the term began
	epoch  uint64        // the present epoch; only the loop's goroutine reads and raises it
	mark   string        // tells the seals of this term from those of every other term
	proofs *frame.Prover // of frames; the loop's goroutine only
	inbox  string        // workers answer frames below it: the session and the frame follow
}

// now is the time of the rules.
func (t *term) now() tasks.Instant { return protocolrecord.Instant(time.Since(t.began)) + 1 }

// loop is all that a part knows of the loop that it belongs to.
type loop struct {
	put  func(message any)    // gives the loop a message, from any goroutine
	step func(ev tasks.Event) // gives the rules an event, in the loop's goroutine only
	emit func(e event.Event)  // gives the user's sinks an event, from any goroutine
}

// sender sends messages in order, without blocking. It is a *shortcut.Sender.
type sender interface {
	Send(subject, reply string, data []byte)
	Hand(subject, reply string, data []byte) bool
	MaxPayload() int
	Refresh()
	Stop()
}

// Host is the lease under which a term runs: what the scheduler uses of it. Package election
// documents the methods. See bridge.LeaseOf.
type Host interface {
	Conn() *nats.Conn
	Instance() string
	Session() uint64
	BucketID() string
	Config() election.SessionConfig
	Signer() *fencing.Signer

	Members() []election.MemberInfo
	Role(name string) (election.RoleInfo, bool)
	Told(namespace string) map[uint64][]byte
	Changed() <-chan struct{}
	Dead(instance string, workerOnly bool, session uint64) bool
	Closed(instance string, workerOnly bool, session uint64) bool
	Await(instance string, workerOnly bool, session uint64)
	Unanswered(instance string, workerOnly bool, session uint64)
	Widen(ctx context.Context, role string, epoch uint64) (release func(), err error)

	Emit(event.Event)
	Reports() bool
	Meta() event.Meta
}

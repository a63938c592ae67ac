package election

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/shardcount"
)

// Session is one process's membership in one bucket: a lease that one heartbeat keeps alive, for
// any number of roles. A session outlives its leases. When a lease is lost, every term ends, and
// the session opens a new lease automatically. All methods are safe for concurrent use.
type Session struct {
	cfg    SessionConfig
	reach  natskv.Reach
	signer *fencing.Signer
	events *fanout
	box    *mailbox.Mailbox[message] // bounded by the writes in flight, and by the callers that wait for an answer

	number      atomic.Uint64 // of the open session, 0 while there is none
	heartbeatAt atomic.Int64  // wall time of the last renewal, ns
	rtt         atomic.Int64  // how long it took, ns
	up          atomic.Bool   // the connection
	present     atomic.Pointer[trust]
	trust       *trust // the same, for the loop
	commands    atomic.Uint64
	// reliances are those that depend on roles of ours.
	reliances atomic.Pointer[[]*reliance]

	mu         sync.Mutex
	unopened   error // why the bucket could not be opened the last time
	opened     bool  // Open was called, or Close before it
	elections  map[string]*Election
	relies     map[*Election]*reliance // the roles that ours depend on
	shards     map[string]int          // by group: how many it is known to have
	reached    *reached                // nil until all groups so far are known: each election asks from then on
	bindings   map[<-chan struct{}]*binding
	attached   []*attachment
	workplaces map[string]record.Workplace
	withdrawn  map[string]bool   // the namespaces in which this lease has offered something and does not any more
	told       map[string][]byte // what this lease says of its work, by namespace
	room       room
	loop       *loop                   // nil until Open has what it takes
	giveUp     context.CancelCauseFunc // what Open does before it has; nil before Open
	closing    bool
	busy       int // attachments that run tasks

	terms  sync.WaitGroup // the work of terms
	checks sync.WaitGroup // of health
	ready  chan struct{}  // closed when a lease is held for the first time
	done   chan struct{}
	err    error // permanent fault, set before done is closed
	left   error // what Close reports
}

// NewSession validates cfg; it does no I/O. The error joins every fault, each a *ConfigError that
// names its fix.
func NewSession(cfg SessionConfig) (*Session, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	reach, err := natskv.NewReach(cfg.Domain, cfg.APIPrefix)
	if err != nil {
		return nil, err // not after Validate
	}
	signer, err := fencing.NewSigner()
	if err != nil {
		return nil, fmt.Errorf("election: make a signing key: %w", err)
	}
	s := &Session{
		cfg: cfg, reach: reach, signer: signer, box: mailbox.New[message](), elections: map[string]*Election{},
		shards:   map[string]int{},
		bindings: map[<-chan struct{}]*binding{},
		trust:    newTrust(cfg.clock), events: newFanout(), ready: make(chan struct{}), done: make(chan struct{}),
	}
	s.present.Store(s.trust)
	if len(cfg.Meta) > 0 {
		s.room.meta = encodedSize(cfg.Meta)
		s.post(protocol.Describe{Meta: maps.Clone(cfg.Meta)})
	}
	return s, nil
}

// Bucket is the bucket of the session.
func (s *Session) Bucket() string { return s.cfg.Bucket }

// BucketID is the id of the bucket, which another bucket of the same name does not have. It is ""
// until Open has reached the bucket.
func (s *Session) BucketID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loop == nil {
		return ""
	}
	return s.loop.bucket.Identity().ID
}

// Instance is the instance id, generated when none was configured.
func (s *Session) Instance() string { return s.cfg.InstanceID }

// sessionNumber is the number of the open session, 0 while there is none.
func (s *Session) sessionNumber() uint64 { return s.number.Load() }

// Config is the configuration with its defaults filled in.
func (s *Session) Config() SessionConfig { return s.cfg }

// Open takes the lease over nc and returns when it is held. ctx bounds only the opening; transient
// faults are retried until ctx ends. It returns nil if the session has opened, also when ctx has
// ended meanwhile: then Close ends the session, as ever. The connection stays the caller's: the
// session does not reconfigure or close it.
//
// Over the lease of a crashed predecessor with our instance id, Open waits for that lease to run
// out. Errors: ErrBucketNotFound (with the command that makes it), ErrBucketUnfit, ErrPermission
// (naming the subject), ErrJetStreamOff, *DuplicateInstanceError, ErrAlreadyOpen, ErrClosed when
// Close came first, *ConfigError for a connection with nats.NoEcho, ctx's with the last fault.
func (s *Session) Open(ctx context.Context, nc *nats.Conn) error {
	s.mu.Lock()
	already := s.opened
	opening, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	if !already {
		s.opened, s.giveUp = true, giveUp
	}
	s.mu.Unlock()
	if already {
		return ErrAlreadyOpen
	}
	s.events.sink(s.cfg.Sinks)
	if err := checkConn(nc); err != nil {
		s.abort(err)
		return err
	}
	bucket, err := s.openBucket(opening, nc)
	if context.Cause(opening) == ErrClosed {
		s.abort(nil)
		return ErrClosed
	}
	if err != nil {
		s.abort(err)
		return err
	}
	l, err := newLoop(opening, s, nc, bucket)
	if err != nil {
		err = public(err)
		s.abort(err)
		return err
	}
	s.mu.Lock()
	s.loop = l
	s.mu.Unlock()
	l.start()
	return s.await(ctx, l)
}

// await waits until the session is open, has ended, or may not open any more because ctx has ended.
// Several of these may be so when this goroutine runs. A session that is open may lead already, and
// only Close ends it, which waits for the work. So the loop decides, which opens it.
func (s *Session) await(ctx context.Context, l *loop) error {
	select {
	case <-s.ready:
		return nil
	case <-s.done:
		return cmp.Or(errors.Join(s.err, s.left), ErrClosed)
	case <-ctx.Done():
	}
	err := errors.Join(fmt.Errorf("election: open session: %w", ctx.Err()), l.lastFault())
	s.box.Put(message{run: func(*protocol.Machine, record.Now) {
		select {
		case <-s.ready:
		default:
			l.step(protocol.Close{})
		}
	}})
	select {
	case <-s.ready:
		return nil
	case <-s.done:
		return err
	}
}

// sinkPatience is how long the end of a session waits for its sinks.
const sinkPatience = time.Second

// abort ends a session that never had a loop.
func (s *Session) abort(err error) {
	s.err = err
	s.box.Close()
	s.finishAll()
	s.signer.Wipe()
	s.events.close(sinkPatience)
	close(s.done)
}

// finishAll tells every election that the session has ended.
func (s *Session) finishAll() {
	s.mu.Lock()
	elections := make([]*Election, 0, len(s.elections))
	for _, e := range s.elections {
		elections = append(elections, e)
	}
	s.mu.Unlock()
	for _, e := range elections {
		e.finish(s.err)
	}
}

// Campaign makes this session's part in a role; it begins with the Election's Run or Start. It may
// be called before Open. Errors: every fault of cfg, ErrDuplicateRole, ErrWorkerOnly, ErrClosed,
// *TooLargeError when the member record has no room for another role.
func (s *Session) Campaign(cfg RoleConfig) (*Election, error) {
	if err := cfg.Validate(s.cfg.HeartbeatInterval); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.cfg.WorkerOnly:
		return nil, ErrWorkerOnly
	case s.ended():
		return nil, ErrClosed
	case s.elections[cfg.Role] != nil:
		return nil, fmt.Errorf("%w: %s", ErrDuplicateRole, cfg.Role)
	}
	if n := s.shards[cfg.Group]; cfg.Shards > 0 && n > 0 && n != cfg.Shards {
		return nil, public(&shardcount.OtherError{Bucket: s.cfg.Bucket, Group: cfg.Group, Want: cfg.Shards, Recorded: n})
	}
	if err := s.room.check(candidacySize(cfg)); err != nil {
		return nil, err
	}
	e := newElection(s, cfg)
	s.elections[cfg.Role] = e
	s.room.roles += candidacySize(cfg)
	return e, nil
}

func (s *Session) election(role string) *Election {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.elections[role]
}

// campaigns are the roles of this session.
func (s *Session) campaigns() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.elections))
}

// Done is closed when the session has ended for good: by Close, or by a permanent fault, which Err
// then tells.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err is the permanent fault that ended the session, nil before and after Close.
func (s *Session) Err() error {
	if s.ended() {
		return s.err
	}
	return nil
}

func (s *Session) ended() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// Close ends every term, waits for the work to drain, gives the roles away and closes the lease, so
// that successors need not wait for anything. The attachments end first, under the lease. Close
// returns by ctx's deadline. Without a deadline it takes at most DrainTimeout and a few operations,
// after the attachments have ended.
//
// Errors: *UndrainedError names the roles whose work had not returned; their session is left to run
// out. The errors of the attachments, such as assign.ErrHandlersStuck when handlers of tasks had
// not returned. ctx's error when ctx ended first; closing then continues. ErrInsideWork when the
// work of a role calls Close; nothing has changed then.
func (s *Session) Close(ctx context.Context) error {
	if s.insideAny() {
		return ErrInsideWork
	}
	s.mu.Lock()
	never := !s.opened
	s.opened = true
	first := !s.closing
	s.closing = true
	giveUp := s.giveUp
	s.mu.Unlock()
	if never {
		s.abort(nil)
		return nil
	}
	if giveUp != nil { // nil when an earlier Close came before Open
		giveUp(ErrClosed)
	}
	timeout := s.leaving()
	if first {
		s.detachWithin(ctx)
	}
	if deadline, ok := ctx.Deadline(); ok {
		timeout = min(timeout, max(time.Until(deadline)-s.cfg.OpTimeout/2, 0))
	}
	s.post(protocol.Close{Timeout: timeout})
	select {
	case <-s.done:
		return errors.Join(s.left, s.unfinished())
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Events returns the events from now on. The channel is closed when ctx or the session ends. A slow
// reader gets every promotion and demotion, and an event.Lagged in place of the rest. A scheduler
// in this process begins to tell of single tasks with its next turn, a moment later.
func (s *Session) Events(ctx context.Context) <-chan event.Event { return s.events.subscribe(ctx) }

// LastHeartbeat is when the lease was last renewed, and how long that took; zero before the first.
func (s *Session) LastHeartbeat() (at time.Time, took time.Duration) {
	if ns := s.heartbeatAt.Load(); ns != 0 {
		at = time.Unix(0, ns)
	}
	return at, time.Duration(s.rtt.Load())
}

// Connected reports whether the connection is up.
func (s *Session) Connected() bool { return s.up.Load() }

func (s *Session) meta() event.Meta {
	number := s.number.Load()
	return event.Meta{
		Time: time.Now(), Bucket: s.cfg.Bucket, Instance: s.cfg.InstanceID, Session: number,
		Correlation: "s" + strconv.FormatUint(number, 16),
	}
}

func (s *Session) termMeta(t *Term) event.Meta {
	m := s.meta()
	m.Correlation += "/" + t.correlation
	return m
}

func (s *Session) emit(e event.Event) { s.events.emit(e) }

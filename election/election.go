package election

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Election is one process's part in one role, from Start to Stop. All methods are safe for
// concurrent use.
type Election struct {
	session *Session
	cfg     RoleConfig
	shared  *sharedSession // standalone: opened with the first that uses it, closed with the last

	onPromote func(ctx context.Context, t fencing.Token)
	onDemote  func()

	term   atomic.Pointer[Term]
	latest atomic.Pointer[Term] // also when it has ended
	leader atomic.Pointer[string]
	told   *string // the last leader that OnLeaderChange was told of; only its caller's goroutine has it
	last   atomic.Pointer[transition]

	binding  *binding  // to the context that it was started with
	reliance *reliance // on another one, nil: it depends on none

	unchecked context.Context // ends the health checks; nil without any
	uncheck   context.CancelFunc

	mu       sync.Mutex
	started  bool
	stopped  bool
	finished bool // finish was called
	over     bool // it has stopped, and err tells why
	parent   context.Context
	done     chan struct{} // closed when it has stopped; made by the first call that waits
	err      error
}

type transition struct {
	at     time.Time
	reason string
}

// StopOptions say how an election ends.
type StopOptions struct {
	// DeleteKey gives the role away after the drain; the record is vacated, never deleted. Without
	// DeleteKey the role stays held to the end of the session.
	DeleteKey bool
	// WaitForDemote waits for the drain. Without it the call returns at once, and the rest happens
	// in the same way.
	WaitForDemote bool
	// Timeout bounds the wait. Default DrainTimeout and a few operations.
	Timeout time.Duration
}

func newElection(s *Session, cfg RoleConfig) *Election {
	e := &Election{session: s, cfg: cfg.withDefaults()}
	if cfg.Health != nil {
		e.unchecked, e.uncheck = context.WithCancel(context.Background())
	}
	e.leader.Store(&nobody)
	return e
}

// nobody is the leader before one is seen. It is shared, and never written.
var nobody string

// OnPromote registers a function that is called when the role is won, with a context that ends with
// the term. It may block: the term has drained when it and OnDemote have returned. Call it before
// Start.
func (e *Election) OnPromote(f func(ctx context.Context, t fencing.Token)) { e.onPromote = f }

// OnDemote registers a function that is called exactly once for every promotion, when the term has
// ended. Call it before Start.
func (e *Election) OnDemote(f func()) { e.onDemote = f }

// Run takes part in the role until ctx ends or the session does, and calls lead whenever the role
// is won. It returns nil after a clean end: the work has drained and the role was given away.
//
// A return of lead after its context has ended is never a failure. An earlier return gives the role
// up. After nil, this process does not claim the role again for a cool-down. After an error or a
// panic, the cool-down doubles while lead keeps failing. Until Run takes part, its errors are those
// of Start.
func (e *Election) Run(ctx context.Context, lead func(context.Context, *Term) error) error {
	if err := e.start(ctx, lead); err != nil {
		return err
	}
	<-e.Done()
	return e.err
}

// Start takes part in the role and returns at once. When ctx ends, the election stops as by Stop. A
// standalone election waits until its session is open for the first time, or ctx ends; what keeps
// the session from opening is then the error, such as ErrBucketNotFound, and the election has
// ended. Errors: ErrNoWork, ErrAlreadyStarted, also after Stop; of a standalone election those of
// [Session.Open].
//
// If RoleConfig.Shards is set, and the session was opened without that group, Start first asks the
// bucket, and waits for at most 5 s. ErrShardCount ends the election: its group has another number.
// After any other error of that question nothing has begun, and Start can be called again.
func (e *Election) Start(ctx context.Context) error {
	if err := e.start(ctx, nil); err != nil || e.shared == nil {
		return err
	}
	return e.shared.awaitOpen(ctx)
}

// start takes part with that work, or with what is configured.
func (e *Election) start(ctx context.Context, lead func(context.Context, *Term) error) error {
	if err := e.mayStart(lead != nil); err != nil {
		return err
	}
	if err := e.session.checkShards(ctx, e.cfg.Group, e.cfg.Shards); err != nil {
		if errors.Is(err, ErrShardCount) { // it stays so
			e.finish(err)
		}
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.started || e.stopped { // meanwhile
		return ErrAlreadyStarted
	}
	if lead != nil {
		e.cfg.Lead = lead
	}
	e.started, e.parent = true, ctx
	e.session.join(e)
	if e.shared != nil {
		e.shared.open()
	}
	e.session.bind(ctx, e)
	return nil
}

func (e *Election) mayStart(work bool) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.started || e.stopped:
		return ErrAlreadyStarted
	case !work && e.cfg.Lead == nil && e.onPromote == nil:
		return ErrNoWork
	}
	return nil
}

// Stop gives the role up: the work drains, then the role is vacated. Stop waits for that, for at
// most DrainTimeout and a few operations. An error says what was left undone. If the work itself
// calls Stop, Stop ends the term and returns ErrInsideWork; the role is left when the work returns.
func (e *Election) Stop() error {
	return e.StopWithContext(context.Background(), StopOptions{DeleteKey: true, WaitForDemote: true})
}

// StopWithContext stops taking part as opts say. Errors: ErrNotStarted, ctx's error, and
// context.DeadlineExceeded after opts.Timeout; the drain continues after both of these.
// If the work itself calls it with WaitForDemote, it does not wait and returns ErrInsideWork.
func (e *Election) StopWithContext(ctx context.Context, opts StopOptions) error {
	e.mu.Lock()
	started := e.started
	e.stopped = true
	e.mu.Unlock()
	if !started {
		e.finish(nil) // nothing to drain; what it shares is let go
		return ErrNotStarted
	}
	e.stop(opts)
	if !opts.WaitForDemote {
		return nil
	}
	if e.inside() {
		return ErrInsideWork
	}
	if opts.Timeout == 0 {
		opts.Timeout = e.session.cfg.DrainTimeout + 4*e.session.cfg.OpTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
	defer cancel()
	select {
	case <-e.Done():
		return e.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop asks the machine to leave the role; leaving it is asked for once.
func (e *Election) stop(opts StopOptions) {
	e.mu.Lock()
	e.stopped = true
	e.mu.Unlock()
	e.session.leave(e, opts.DeleteKey)
}

// finish is called when the role was left or the session has ended; the first call counts.
func (e *Election) finish(err error) {
	e.mu.Lock()
	first, left, reliance := !e.finished, e.started && e.stopped, e.reliance
	e.stopped, e.finished = true, true
	e.mu.Unlock()
	if !first {
		return
	}
	if e.uncheck != nil {
		e.uncheck() // before Done: the session waits for the checks, and Done may wait for the session
	}
	e.session.unbind(e)
	if reliance != nil {
		e.session.unrely(reliance)
	}
	if left {
		e.session.emit(event.RoleLeft{Meta: e.session.meta(), Role: e.cfg.Role})
	}
	e.session.retire(e)
	if e.shared == nil {
		e.end(err)
		return
	}
	go func() { // joined by the callers that wait for Done; the session cannot close from its own goroutine
		e.end(errors.Join(err, e.shared.release()))
	}()
}

func (e *Election) end(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.err, e.over = err, true
	if e.done != nil {
		close(e.done)
	}
}

// Done is closed when the election has stopped: drained, and the role given away or left.
func (e *Election) Done() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done == nil {
		e.done = make(chan struct{})
		if e.over {
			close(e.done)
		}
	}
	return e.done
}

func (e *Election) ended() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.over
}

// Err is why the election stopped, nil before and after a clean end.
func (e *Election) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// IsLeader reports whether this process believes that it leads; see Term.Valid for what that means.
func (e *Election) IsLeader() bool {
	t := e.term.Load()
	return t != nil && t.Valid()
}

// LeaderID is the instance that leads as far as this process has seen, "" for nobody. A process
// that is cut off does not name itself once its own trust has ended.
func (e *Election) LeaderID() string {
	leader := *e.leader.Load()
	if leader == e.session.cfg.InstanceID && !e.session.present.Load().holds() {
		return ""
	}
	return leader
}

// Token is the fencing token of the present term, the zero token when not leading.
func (e *Election) Token() fencing.Token {
	if t := e.term.Load(); t != nil && t.Valid() {
		return t.Token()
	}
	return fencing.Token{}
}

// Status is the state of this process in the role, and what it sees of the others.
func (e *Election) Status() Status { return e.session.status(e) }

// ValidateToken asks the server whether this process leads now; nothing less proves it. An error
// says that there was no answer within a heartbeat. On replicas that can be so beside writes under
// fencing.Condition that never pause.
func (e *Election) ValidateToken(ctx context.Context) (bool, error) {
	t := e.term.Load()
	if t == nil || !t.Valid() {
		return false, nil
	}
	err := t.Validate(ctx)
	if errors.Is(err, ErrNotLeader) {
		return false, nil
	}
	return err == nil, err
}

// ValidateTokenOrDemote asks the server, and unless it confirms that this process leads, the term
// ends now.
func (e *Election) ValidateTokenOrDemote(ctx context.Context) bool {
	ok, err := e.ValidateToken(ctx)
	if err != nil {
		e.session.post(protocol.StepDown{Role: e.cfg.Role, Cause: protocol.Evicted})
		e.session.query(func(*protocol.Machine, record.Now) {}) // comes behind it: the term has ended
	}
	return ok
}

// StepDown gives the role to the next in line: this process is not eligible for CoolDown. It
// returns when the work has drained and the role was given away. If the work itself calls StepDown,
// StepDown ends the term and returns ErrInsideWork; the role is given away when the work returns.
// Errors: ErrNotLeader, ErrInsideWork, ctx's.
func (e *Election) StepDown(ctx context.Context) error {
	answer, err := e.session.order(func(id protocol.CommandID) protocol.Event {
		return protocol.StepDown{ID: id, Role: e.cfg.Role}
	})
	switch {
	case err != nil:
		return err
	case e.inside():
		return ErrInsideWork
	}
	_, err = answer(ctx)
	return err
}

// Transfer hands the role to another instance, after asking it whether it is ready. It returns when
// the work has drained and the role was given away. Errors: ErrNotLeader, ErrNotCandidate,
// ErrDeclined, ErrBusy, ctx's error, and ErrInsideWork when the work itself calls Transfer; nothing
// has changed then.
func (e *Election) Transfer(ctx context.Context, instance string) error {
	if e.inside() {
		return ErrInsideWork
	}
	_, err := e.session.command(ctx, func(id protocol.CommandID) protocol.Event {
		return protocol.Transfer{ID: id, Role: e.cfg.Role, Target: instance}
	})
	return err
}

// Pause makes this process ineligible until Resume; a leader steps down.
func (e *Election) Pause(ctx context.Context) error {
	_, err := e.session.command(ctx, func(id protocol.CommandID) protocol.Event {
		return protocol.Pause{ID: id, Role: e.cfg.Role}
	})
	return err
}

// Resume makes this process eligible again, and ends a cool-down.
func (e *Election) Resume(ctx context.Context) error {
	_, err := e.session.command(ctx, func(id protocol.CommandID) protocol.Event {
		return protocol.Resume{ID: id, Role: e.cfg.Role}
	})
	return err
}

func (e *Election) transition(reason string) {
	e.last.Store(&transition{time.Now(), reason})
}

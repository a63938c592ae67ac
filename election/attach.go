package election

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// attachment is something that lives and dies with each lease of a session. One goroutine runs it,
// again for each lease.
type attachment struct {
	s    *Session
	name string
	run  func(ctx context.Context, h Host) error

	mu            sync.Mutex
	number        uint64 // of the lease it is to run under, 0 for none
	host          Host
	ctx           context.Context
	cancel        context.CancelCauseFunc
	stopped       bool
	serving       bool
	left          error         // with which it has returned after the close
	drains        time.Duration // how long it may take to return when the session is closed
	wake          chan struct{} // cap 1: the lease has changed
	changed       chan struct{} // cap 1: the view has changed
	heartbeatDone chan struct{} // cap 1: a beat was acknowledged
	done          chan struct{}
}

// ErrAttached says that something of the same name is attached to the session already. A session
// has one assigner of each namespace.
var ErrAttached = errors.New("election: something of this name is attached already: use another name")

// Attach runs a function under every lease of the session. run is called with a context that ends
// with the lease, and the session waits for its return before it is closed. If run returns earlier
// with an error, it is called again after a while. An error that run returns after Close was called
// is returned by Close. Attach may be called before or after Open.
// Errors: ErrClosed.
func (s *Session) Attach(name string, run func(ctx context.Context, h Host) error) error {
	return s.attach(name, run, false)
}

// attachOnce is Attach for what a session may have only one of: it is refused when something of
// that name was attached before, in the session's whole life. Errors: ErrClosed, ErrAttached.
func (s *Session) attachOnce(name string, run func(ctx context.Context, h Host) error) error {
	return s.attach(name, run, true)
}

func (s *Session) attach(name string, run func(ctx context.Context, h Host) error, once bool) error {
	a := &attachment{
		s: s, name: name, run: run, drains: s.cfg.DrainTimeout,
		wake: make(chan struct{}, 1), changed: make(chan struct{}, 1), heartbeatDone: make(chan struct{}, 1),
		done: make(chan struct{}),
	}
	s.mu.Lock()
	if s.closing || s.ended() {
		s.mu.Unlock()
		return ErrClosed
	}
	if once && slices.ContainsFunc(s.attached, func(b *attachment) bool { return b.name == name }) {
		s.mu.Unlock()
		return fmt.Errorf("%w: %s", ErrAttached, name)
	}
	s.attached = append(s.attached, a)
	l := s.loop
	s.mu.Unlock()
	if l != nil {
		l.s.box.Put(message{run: func(*protocol.Machine, record.Now) {
			if n := s.number.Load(); n != 0 {
				a.begin(l, n)
			}
		}})
	}
	return nil
}

func (s *Session) attachments() []*attachment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.attached // only ever appended to
}

// detach stops every attachment and waits for them, until ctx ends.
func (s *Session) detach(ctx context.Context) {
	attached := s.attachments()
	for _, a := range attached {
		a.stop()
	}
	for _, a := range attached {
		select {
		case <-a.done:
		case <-ctx.Done():
		}
	}
}

// detachWithin waits for as long as the attachments need. Of less time than Close may take they
// have what the roles leave, which are given away after them, and half of it at least.
func (s *Session) detachWithin(ctx context.Context) {
	timeout := s.detaching()
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		timeout = min(timeout, max(left-s.leaving(), left/2))
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	s.detach(ctx)
}

// detaching is how long the attachments may take to return, leaving how long the work of roles and
// giving them away.
func (s *Session) detaching() (longest time.Duration) {
	for _, a := range s.attachments() {
		a.mu.Lock()
		longest = max(longest, a.drains)
		a.mu.Unlock()
	}
	return longest + s.cfg.OpTimeout
}

func (s *Session) leaving() time.Duration { return s.cfg.DrainTimeout + 4*s.cfg.OpTimeout }

// closesWithin is how long Close takes at most, all having the time they may take: what is
// attached, then the work of the roles.
func (s *Session) closesWithin() time.Duration { return s.detaching() + s.leaving() + s.cfg.OpTimeout }

// begin runs the attachment under a new lease, after it has returned from the last one.
func (a *attachment) begin(l *loop, number uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped || a.number == number {
		return
	}
	a.number = number
	a.ctx, a.cancel = context.WithCancelCause(context.Background())
	a.host = Host{lease{
		s: a.s, a: a, l: l, number: number, trust: l.s.trust, changed: a.changed, heartbeatDone: a.heartbeatDone,
	}}
	if a.serving {
		a.signal()
		return
	}
	a.serving = true
	l.users.Go(a.serve)
}

// end cancels what runs under the present lease.
func (a *attachment) end(cause error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.number != 0 {
		a.number = 0
		a.cancel(cause)
	}
}

func (a *attachment) stop() {
	a.end(ErrClosed)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.stopped {
		return
	}
	a.stopped = true
	if !a.serving {
		close(a.done)
	}
	a.signal()
}

// leave keeps the error with which run has returned after the close, unless it says no more than
// that ctx has ended.
func (a *attachment) leave(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !errors.Is(err, ErrClosed) && !errors.Is(err, context.Canceled) {
		a.left = err
	}
}

// unfinished are the errors with which the attachments have returned after the close.
func (s *Session) unfinished() (err error) {
	for _, a := range s.attachments() {
		a.mu.Lock()
		err = errors.Join(err, a.left)
		a.mu.Unlock()
	}
	return err
}

func (a *attachment) signal() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

func (a *attachment) pulse() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

func (a *attachment) beat() {
	select {
	case a.heartbeatDone <- struct{}{}:
	default:
	}
}

func (a *attachment) present() (ctx context.Context, h Host, number uint64, stopped bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.ctx, a.host, a.number, a.stopped
}

func (a *attachment) serve() {
	defer close(a.done)
	pace := backoff.NewExponentialBackOff()
	pace.InitialInterval, pace.MaxInterval = 50*time.Millisecond, 5*time.Second
	var served uint64 // the lease that it has returned under, and need not run again
	for {
		select {
		case <-a.wake: // what it tells is read now
		default:
		}
		ctx, h, number, stopped := a.present()
		if stopped {
			return
		}
		var retry <-chan time.Time
		if number != 0 && number != served {
			served = number
			a.pulse() // the view is news to it
			began := time.Now()
			err := call(func() error { return a.run(ctx, h) })
			if errors.Is(context.Cause(ctx), ErrClosed) {
				a.leave(err)
			}
			if err != nil && ctx.Err() == nil {
				a.s.emit(event.Fault{Meta: a.s.meta(), Doing: "run " + a.name, Err: fmt.Errorf("%s: %w", a.name, err), Attempts: 1})
				if time.Since(began) > pace.MaxInterval {
					pace.Reset()
				}
				served, retry = 0, time.After(pace.NextBackOff())
			}
		}
		select {
		case <-a.wake:
		case <-retry:
		}
	}
}

// Host is the part of a session that its attachments may use, for the length of one lease. See
// [Session.Attach].
type Host struct{ lease lease }

// Conn is the session's connection.
func (h Host) Conn() *nats.Conn { return h.lease.Conn() }

// Session is the number of the lease.
func (h Host) Session() uint64 { return h.lease.Session() }

// Instance is the session's instance id.
func (h Host) Instance() string { return h.lease.Instance() }

// Members are the members whose session is not known to be dead.
func (h Host) Members() []MemberInfo { return h.lease.Members() }

// Role returns a role as this session sees it. It returns false for a role that nobody has led yet.
func (h Host) Role(name string) (RoleInfo, bool) { return h.lease.Role(name) }

// Changed returns a channel. It receives a value when the leader of a role, or a member, may have
// changed since the last value.
// Heartbeats do not count.
func (h Host) Changed() <-chan struct{} { return h.lease.Changed() }

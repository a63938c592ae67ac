package election

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// Term is one period in which this process leads a role. Lead receives it with its context.
//
// It ends in this order: Valid is false, the context is cancelled with a cause, OnDemote runs and
// the work returns, the role is given away. No other process leads before that, except when the
// session was lost. Then trust has ended SafetyMargin before another process may lead.
type Term struct {
	role        string
	id          uint64 // the epoch it began with
	began       time.Time
	trust       *trust
	under       *Term // that it depends on, nil for none
	over        atomic.Bool
	token       atomic.Pointer[fencing.Token]
	ctx         context.Context
	cancel      context.CancelCauseFunc
	session     *Session
	correlation string

	callers   callers
	demote    func()       // OnDemote as it was when the term began
	promotion *promotion   // set where OnPromote is called
	open      atomic.Int32 // how much of it has not returned: callbacks, revalidation, and its end
	ended     time.Time    // when its end began
}

// Role is the role that is led.
func (t *Term) Role() string { return t.role }

// Token is the fencing token of the term: send it along with every effect on the outside. It
// changes when it is rotated.
func (t *Term) Token() fencing.Token { return *t.token.Load() }

// Epoch is the epoch of the present token.
func (t *Term) Epoch() uint64 { return t.Token().Epoch }

// Since is when the term began, by this process's clock.
func (t *Term) Since() time.Time { return t.began }

// Valid reports whether this process still believes that it leads. It reads the clock and asks
// nobody. It is never true longer than other processes must wait. It says nothing about the moment
// after the call: use tokens for that. If the role depends on another one (RoleConfig.While), it is
// true only while the term of that one is valid too.
func (t *Term) Valid() bool {
	return !t.over.Load() && t.trust.holds() && (t.under == nil || t.under.Valid())
}

// Validate proves with the server that the term is the present one. It needs a heartbeat of the
// last interval, and sends a write that the server accepts only while the role's record is as this
// term wrote it. Calls at the same time share one write. It is tried again for a HeartbeatInterval.
// Errors: ErrNotLeader when it is over or the server disproved it, ErrUnproven when no answer came,
// ctx's error.
func (t *Term) Validate(ctx context.Context) error {
	if t.session == nil {
		if t.Valid() {
			return nil
		}
		return ErrNotLeader
	}
	if t.over.Load() || t.under != nil && !t.under.Valid() {
		return ErrNotLeader
	}
	return t.session.validate(ctx, t.role, t.id, t.Epoch())
}

// begin makes a term and starts its work. The work's context carries the values of parent, and
// nothing else of it.
func (s *Session) begin(e *Election, b protocol.BeginTerm) {
	id, err := uuid.Parse(b.Token)
	if err != nil { // it was made by ourselves
		id = uuid.New()
	}
	token := fencing.NewToken(b.Role, s.cfg.InstanceID, b.Epoch, 0, id).WithSource(s.loop.source)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(e.parent))
	t := &Term{
		role: b.Role, id: b.Epoch, began: time.Now(), trust: s.trust, ctx: ctx, cancel: cancel, session: s,
		correlation: uuid.NewString()[:8], under: e.under(b.Under),
	}
	t.token.Store(&token)
	e.latest.Store(t)
	e.term.Store(t)
	e.transition("")
	s.emit(event.RolePromoted{
		Meta: s.termMeta(t), Role: b.Role, Epoch: b.Epoch, Priority: int(b.Priority),
		Gap: b.Gap,
	})
	e.work(t)
}

// end ends trust in a term, cancels its work and calls OnDemote; whichever of its callbacks
// returns last reports that it has drained.
func (s *Session) end(e *Election, x protocol.EndTerm) {
	t := e.term.Swap(nil)
	if t == nil {
		return
	}
	t.over.Store(true)
	cause := causes[x.Cause]
	e.transition(x.Cause.String())
	s.emit(event.RoleDemoted{
		Meta: s.termMeta(t), Role: t.role, Epoch: t.Epoch(), Reason: x.Cause.String(), Cause: cause, Led: time.Since(t.began),
	})
	t.ended = time.Now()
	t.cancel(cause)
	e.demoted(t)
}

// rotate gives a running term its next token.
func (e *Election) rotate(r protocol.Rotated) {
	t := e.term.Load()
	if t == nil || t.id != r.Term {
		return
	}
	id, err := uuid.Parse(r.Token)
	if err != nil {
		id = uuid.New()
	}
	token := fencing.NewToken(r.Role, t.Token().Holder, r.Epoch, 0, id).WithSource(t.Token().Source())
	t.token.Store(&token)
	e.session.emit(event.RoleRotated{Meta: e.session.termMeta(t), Role: r.Role, Epoch: r.Epoch})
}

// These types print only their names, with every verb. A log line must never read their fields,
// which change concurrently and may hold secrets.

// Format writes which term it is.
func (t *Term) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "term of %s at epoch %d", t.Role(), t.Epoch())
}

// Format writes which election it is.
func (e *Election) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "election of %s by %s", e.cfg.Role, e.session.Instance())
}

// Format writes whose session it is.
func (s *Session) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "session of %s in %s", s.Instance(), s.Bucket())
}

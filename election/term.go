package election

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// Term is one period in which this process leads a role. The work gets it beside its context.
//
// It ends in this order: Valid is false, the context is cancelled with a cause, OnDemote runs and the work returns, the
// role is given away. Nobody else leads before that, but when the session was lost: then belief has ended SafetyMargin
// before anybody else may lead.
type Term struct {
	role        string
	id          uint64 // the epoch it began with
	began       time.Time
	belief      *belief
	over        atomic.Bool
	token       atomic.Pointer[fencing.Token]
	ctx         context.Context
	cancel      context.CancelCauseFunc
	session     *Session
	correlation string
}

// Role is the role that is led.
func (t *Term) Role() string { return t.role }

// Token is the fencing token of the term: send it along with every effect on the outside. It changes when it is rotated.
func (t *Term) Token() fencing.Token { return *t.token.Load() }

// Epoch is the epoch of the present token.
func (t *Term) Epoch() uint64 { return t.Token().Epoch }

// Since is when the term began, by this process's clock.
func (t *Term) Since() time.Time { return t.began }

// Valid reports whether this process still believes that it leads. It costs one reading of the clock and asks nobody; it
// is true for no longer than others must wait. It says nothing about the moment after: that is what tokens are for.
func (t *Term) Valid() bool { return !t.over.Load() && t.belief.holds() }

// Validate proves to the server that the term is the present one: a heartbeat, then a write that the server accepts only
// while the role's record stands as this term wrote it. Errors: ErrNotLeader when it is over or the server disproved it,
// ErrUnproven when no answer came, ctx's error.
func (t *Term) Validate(ctx context.Context) error {
	if t.session == nil {
		if t.Valid() {
			return nil
		}
		return ErrNotLeader
	}
	if t.over.Load() {
		return ErrNotLeader
	}
	return t.session.validate(ctx, t.role, t.id, t.Epoch())
}

// begin makes a term and starts its work. The work's context carries the values of parent, and nothing else of it.
func (s *Session) begin(e *Election, b protocol.BeginTerm) {
	id, err := uuid.Parse(b.Token)
	if err != nil { // it was made by ourselves
		id = uuid.New()
	}
	token := fencing.NewToken(b.Role, s.cfg.InstanceID, b.Epoch, 0, id)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(e.parent))
	t := &Term{
		role: b.Role, id: b.Epoch, began: time.Now(), belief: s.belief, ctx: ctx, cancel: cancel, session: s,
		correlation: uuid.NewString()[:8],
	}
	t.token.Store(&token)
	e.term.Store(t)
	e.transition("")
	s.emit(event.RolePromoted{Meta: s.termMeta(t), Role: b.Role, Epoch: b.Epoch, Priority: b.Priority, Vacant: b.Vacant})
	s.terms.Go(func() { e.work(t) })
}

// end ends belief in a term and cancels its work; the work's goroutine reports when it has drained.
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
	t.cancel(cause)
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
	token := fencing.NewToken(r.Role, t.Token().Holder, r.Epoch, 0, id)
	t.token.Store(&token)
	e.session.emit(event.RoleRotated{Meta: e.session.termMeta(t), Role: r.Role, Epoch: r.Epoch})
}

// work runs one term from promotion to drain.
//
//	promoted ──► Lead or OnPromote runs ──► ctx ends ──► OnDemote ──► both have returned ──► drained
func (e *Election) work(t *Term) {
	var begun []func(context.Context) // what runs for the whole term
	lead, promote, demote := e.cfg.Lead, e.onPromote, e.onDemote
	if lead != nil {
		begun = append(begun, func(ctx context.Context) { e.lead(ctx, t, lead) })
	}
	promotion := newPromotion()
	if promote != nil {
		begun = append(begun, func(ctx context.Context) {
			e.guarded(t, "OnPromote", func() { promotion.call(ctx, t.Token(), promote) })
		})
	}
	if e.cfg.ValidationInterval > 0 {
		begun = append(begun, func(ctx context.Context) { e.revalidate(ctx, t) })
	}
	returned := make(chan struct{}, len(begun)) // one token each, so none is left behind
	for _, f := range begun {
		e.session.terms.Go(func() {
			defer func() { returned <- struct{}{} }()
			f(t.ctx)
		})
	}
	<-t.ctx.Done()
	ended := time.Now()
	if demote != nil && (promote == nil || promotion.end()) {
		e.guarded(t, "OnDemote", demote)
	}
	for range begun {
		<-returned
	}
	e.session.emit(event.RoleDrained{Meta: e.session.termMeta(t), Role: t.role, Epoch: t.Epoch(), Took: time.Since(ended)})
	e.session.post(protocol.Drained{Role: t.role, Term: t.id})
}

// lead calls the work and reports a return before its context has ended; after that none is a failure.
func (e *Election) lead(ctx context.Context, t *Term, lead func(context.Context, *Term) error) {
	err, panicked := call(func() error { return lead(ctx, t) })
	if ctx.Err() != nil {
		return
	}
	e.session.emit(event.WorkReturned{Meta: e.session.termMeta(t), Role: t.role, Epoch: t.Epoch(), Err: err, Panic: panicked})
	e.session.post(protocol.Returned{Role: t.role, Term: t.id, Failed: err != nil})
}

// guarded runs a callback; a panic is reported and goes no further. A promotion that panicked gives the role up.
func (e *Election) guarded(t *Term, name string, callback func()) {
	value, stack := rescue(callback)
	if stack == nil {
		return
	}
	e.session.emit(event.CallbackPanicked{Meta: e.session.termMeta(t), Role: t.role, Callback: name, Value: value, Stack: stack})
	if t.ctx.Err() == nil {
		e.session.post(protocol.Returned{Role: t.role, Term: t.id, Failed: true})
	}
}

// rescue calls f and returns what it panicked with, and where; the stack is nil when it did not. It has a goroutine of its
// own for the call, since runtime.Goexit (a FailNow of package testing, for one) ends the goroutine and cannot be caught.
func rescue(f func()) (value any, stack []byte) {
	done := make(chan struct{})
	go func() {
		returned := false
		defer func() {
			defer close(done)
			if returned {
				return
			}
			if value = recover(); value == nil {
				value = errGoexit
			}
			stack = debug.Stack()
		}()
		f()
		returned = true
	}()
	<-done
	return value, stack
}

var errGoexit = errors.New("runtime.Goexit was called")

// call turns a panic into an error that carries its stack.
func call(f func() error) (err error, panicked bool) {
	if value, stack := rescue(func() { err = f() }); stack != nil {
		return fmt.Errorf("panic: %v\n%s", value, stack), true
	}
	return err, false
}

// revalidate proves leadership now and then, and gives the role up when the server disproves it.
func (e *Election) revalidate(ctx context.Context, t *Term) {
	tick := time.NewTicker(e.cfg.ValidationInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := t.Validate(ctx); errors.Is(err, ErrNotLeader) {
				return // the proof of the contrary has ended the term
			}
		}
	}
}

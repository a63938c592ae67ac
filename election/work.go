package election

import (
	"context"
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// work starts what runs for a whole term: each callback has a goroutine of its own, and nobody
// conducts them. A thousand terms may begin at once, so what they need is made here: a goroutine
// that is new has to help the garbage collector first, when it is at work, before it gets memory.
//
// Lead, OnPromote and the revalidation begin with the term. At its end the context ends, and then
// OnDemote is called. The term has drained when the last of them has returned.
func (e *Election) work(t *Term) {
	e.session.terms.Add(1) // until it has drained
	t.open.Store(1)        // its end
	t.demote = e.onDemote
	if lead := e.cfg.Lead; lead != nil {
		t.open.Add(1)
		e.lead(t, lead)
	}
	if promote := e.onPromote; promote != nil {
		t.open.Add(1)
		t.promotion = newPromotion()
		e.guarded(t, "OnPromote", func() {
			t.callers.promote.Store(goroutine())
			if t.promotion.call(t.ctx, t.Token(), promote) && t.ctx.Err() == nil {
				e.session.emit(event.PromotionReturned{Meta: e.session.termMeta(t), Role: t.role, Epoch: t.Epoch()})
			}
		})
	}
	if e.cfg.ValidationInterval > 0 {
		t.open.Add(1)
		go e.revalidate(t)
	}
}

// demoted is the end of a term whose context has ended.
func (e *Election) demoted(t *Term) {
	if t.demote == nil {
		e.returned(t)
		return
	}
	e.guarded(t, "OnDemote", func() {
		t.callers.demote.Store(goroutine())
		if t.promotion == nil || t.promotion.end() {
			t.demote()
		}
	})
}

// returned counts what has returned. The last to do so tells that the role may be given away.
func (e *Election) returned(t *Term) {
	if t.open.Add(-1) > 0 {
		return
	}
	e.session.emit(event.RoleDrained{
		Meta: e.session.termMeta(t), Role: t.role, Epoch: t.Epoch(),
		Took: time.Since(t.ended),
	})
	e.session.post(protocol.Drained{Role: t.role, Term: t.id})
	e.session.terms.Done()
}

// lead calls the work and reports a return before its context has ended; after that none is a
// failure.
func (e *Election) lead(t *Term, lead func(context.Context, *Term) error) {
	var err error
	apart(func() {
		t.callers.lead.Store(goroutine())
		err = lead(t.ctx, t)
	}, func(value any, stack []byte) {
		defer e.returned(t)
		if t.ctx.Err() != nil {
			return
		}
		if stack != nil {
			err = panicked(value, stack)
		}
		e.session.emit(event.WorkReturned{
			Meta: e.session.termMeta(t), Role: t.role, Epoch: t.Epoch(), Err: err, Panic: stack != nil,
		})
		e.session.post(protocol.Returned{Role: t.role, Term: t.id, Failed: err != nil})
	})
}

// guarded calls a callback; a panic is reported and goes no further. A promotion that panicked
// gives the role up.
func (e *Election) guarded(t *Term, name string, callback func()) {
	apart(callback, func(value any, stack []byte) {
		defer e.returned(t)
		if stack == nil {
			return
		}
		e.session.emit(event.CallbackPanicked{
			Meta: e.session.termMeta(t), Role: t.role, Callback: name, Value: value,
			Stack: stack,
		})
		if t.ctx.Err() == nil {
			e.session.post(protocol.Returned{Role: t.role, Term: t.id, Failed: true})
		}
	})
}

// revalidate proves leadership now and then, and gives the role up when the server disproves it.
func (e *Election) revalidate(t *Term) {
	defer e.returned(t)
	tick := time.NewTicker(e.cfg.ValidationInterval)
	defer tick.Stop()
	for {
		select {
		case <-t.ctx.Done():
			return
		case <-tick.C:
			if err := t.Validate(t.ctx); errors.Is(err, ErrNotLeader) {
				return // the proof of the contrary has ended the term
			}
		}
	}
}

package election

import (
	"errors"
	"time"

	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// work calls what runs for a whole term. Each callback has one goroutine, and there is no other: a thousand terms may begin at
// once, so what is needed is made here and not by each of those, which would have to help a collector that is at work first.
//
//	promoted ──► Lead, OnPromote ──────────┐
//	ends ──────► context, then OnDemote ───┴──► the last of them has returned: drained
func (e *Election) work(t *Term) {
	e.session.terms.Add(1) // until it has drained
	t.open.Store(1)        // its end
	if e.cfg.Lead != nil {
		t.open.Add(1)
		e.lead(t)
	}
	if e.onPromote != nil {
		t.open.Add(1)
		t.promotion = newPromotion()
		e.guarded(t, "OnPromote", func() { t.promotion.call(t.ctx, t.Token(), e.onPromote) })
	}
	if e.cfg.ValidationInterval > 0 {
		t.open.Add(1)
		go e.revalidate(t)
	}
}

// demote is the end of a term whose context has ended.
func (e *Election) demote(t *Term) {
	if e.onDemote == nil {
		e.returned(t)
		return
	}
	e.guarded(t, "OnDemote", func() {
		if t.promotion == nil || t.promotion.end() {
			e.onDemote()
		}
	})
}

// returned counts what has returned. The last to do so tells that the role may be given away.
func (e *Election) returned(t *Term) {
	if t.open.Add(-1) > 0 {
		return
	}
	e.session.emit(event.RoleDrained{Meta: e.session.termMeta(t), Role: t.role, Epoch: t.Epoch(), Took: time.Since(t.ended)})
	e.session.post(protocol.Drained{Role: t.role, Term: t.id})
	e.session.terms.Done()
}

// lead calls the work and reports a return before its context has ended; after that none is a failure.
func (e *Election) lead(t *Term) {
	var err error
	apart(func() { err = e.cfg.Lead(t.ctx, t) }, func(value any, stack []byte) {
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

// guarded calls a callback; a panic is reported and goes no further. A promotion that panicked gives the role up.
func (e *Election) guarded(t *Term, name string, callback func()) {
	apart(callback, func(value any, stack []byte) {
		defer e.returned(t)
		if stack == nil {
			return
		}
		e.session.emit(event.CallbackPanicked{Meta: e.session.termMeta(t), Role: t.role, Callback: name, Value: value, Stack: stack})
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

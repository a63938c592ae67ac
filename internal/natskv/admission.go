package natskv

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/nats-io/nats.go"
)

// admission decides whether writes may be published on the present connection. The connection may
// be to another NATS system than the last one, with a store of the same name. So the store's
// identity is read once on each connection, before the first write. Nothing is published while
// there is no connection, because the client would send it on the next one.
//
// The connection may change between the answer and a write. A write over a revision is refused by
// another store then, and a write over nothing counts only when a watch shows it.
type admission struct {
	store Store
	on    atomic.Uint64 // the connection on which the identity was read
	read  bool
	// domain is that of the store as it was last identified: acknowledgements name it.
	domain atomic.Pointer[string]
}

// to makes it the admission to a store.
func (a *admission) to(s Store, nc *nats.Conn) {
	first, on := s.identified()
	a.store, a.read = s, first == nc
	a.on.Store(on)
	domain := s.place().domain
	a.domain.Store(&domain)
}

// answers is the domain that acknowledgements name.
func (a *admission) answers() string {
	if d := a.domain.Load(); d != nil {
		return *d
	}
	return ""
}

// judge is the result of a write by an answer. A connection can be lost between the admission and
// the write, and the client sends the write on the next one. The servers may have been given a
// JetStream domain meanwhile. So as long as the identity was not read on that connection, an answer
// from another domain does not say whose it is. The next admission does.
func (a *admission) judge(nc *nats.Conn, r Result) Result {
	if errors.Is(r.Err, ErrOtherBucket) && a.on.Load() != connection(nc) {
		return Result{Err: fmt.Errorf("it was sent over a new connection, before the %s was identified there (%s)",
			a.store.place().kind(), r.Err.Error())}
	}
	return r
}

// ask returns why nothing may be published now, nil if it may. It may wait for the server's answer.
func (a *admission) ask(ctx context.Context, nc *nats.Conn) error {
	on := connection(nc) // before the questions: what they say holds on this one or on a later one
	switch {
	case nc.IsClosed():
		return nats.ErrConnectionClosed
	case !nc.IsConnected():
		return notConnected(nc)
	case a.read && a.on.Load() == on:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	found, err := a.store.identify(ctx, nc)
	if gone(err) {
		err = verdict(ctx, nc, a.store.place())
	}
	if err != nil {
		return fmt.Errorf("before a write, ask which %s this is: %w", a.store.place().kind(), err)
	}
	a.read = true
	a.on.Store(on)
	a.domain.Store(&found.Domain)
	return nil
}

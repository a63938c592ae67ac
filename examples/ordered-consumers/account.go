package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/fencing"
)

// order is a message. N counts the orders of its account, from 1.
type order struct{ N, Amount int }

// account is what is stored under the key of an account. Seq is the place in the stream of the last
// order that is part of it. Both change in one write, so an order that is delivered again changes
// nothing.
type account struct {
	Seq            uint64
	Orders, Amount int
}

// accounts are those of one partition, in one term. Nobody else writes to the store meanwhile, so
// what is known stays true.
type accounts struct {
	store *fencing.Store
	known map[string]account
}

// handle adds one order to its account, unless it is part of it already.
func (a *accounts) handle(ctx context.Context, m jetstream.Msg) error {
	meta, err := m.Metadata()
	if err != nil {
		return err
	}
	var o order
	if err := json.Unmarshal(m.Data(), &o); err != nil {
		return err
	}
	key := m.Subject()[strings.LastIndex(m.Subject(), ".")+1:]
	now, err := a.get(ctx, key)
	if err != nil {
		return err
	}
	if meta.Sequence.Stream <= now.Seq {
		say(again, m.Subject(), o.N)
		return nil // a former leader has stored it, and could not acknowledge it any more
	}
	say(begins, m.Subject(), o.N)
	if err := work(ctx); err != nil {
		return err
	}
	now = account{Seq: meta.Sequence.Stream, Orders: now.Orders + 1, Amount: now.Amount + o.Amount}
	value, err := json.Marshal(now)
	if err != nil {
		return err
	}
	if _, err := a.store.Put(ctx, key, value); err != nil {
		return err // fencing.ErrStale: another process leads the partition
	}
	a.known[key] = now
	say(ends, m.Subject(), o.N)
	return nil
}

// work is what else there is to do for an order.
func work(ctx context.Context) error {
	select {
	case <-time.After(2 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// get is an account. The first time in a term it comes from the store, with all that former leaders
// have written.
func (a *accounts) get(ctx context.Context, key string) (account, error) {
	known, ok := a.known[key]
	if ok {
		return known, nil
	}
	entry, err := a.store.Latest(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return account{}, nil
	}
	if err != nil {
		return account{}, err
	}
	if err := json.Unmarshal(entry.Value, &known); err != nil {
		return account{}, fmt.Errorf("account %s: %w", key, err)
	}
	a.known[key] = known
	return known, nil
}

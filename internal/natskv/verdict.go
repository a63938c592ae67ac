package natskv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// confirmAfter is the time between the two answers that must agree before a bucket in use counts as
// gone.
const confirmAfter = 300 * time.Millisecond

// verdict decides what became of a store that existed before and that nobody listens for now. The
// verdict is permanent only when the server has answered twice, on one connection, that the bucket
// is gone or JetStream is off: a server that is shutting down looks the same for a moment, and its
// sessions must outlive the restart. Otherwise it is ErrNoLeader.
func verdict(ctx context.Context, nc *nats.Conn, at place) error {
	reconnects := nc.Stats().Reconnects
	first := ask(ctx, nc, at)
	if !gone(first) {
		return first
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("%w (%v)", ErrNoLeader, first)
	case <-time.After(confirmAfter):
	}
	second := ask(ctx, nc, at)
	if gone(second) && nc.Status() == nats.CONNECTED && nc.Stats().Reconnects == reconnects {
		return second
	}
	if !gone(second) {
		return second
	}
	return fmt.Errorf("%w (%v)", ErrNoLeader, second)
}

// gone reports whether the server itself has answered that the store does not exist.
func gone(err error) bool {
	return Permanent(err) && (errors.Is(err, ErrBucketNotFound) || errors.Is(err, ErrJetStreamOff))
}

// ask asks once, and never returns nil.
func ask(ctx context.Context, nc *nats.Conn, at place) error {
	ctx, cancel := context.WithTimeout(ctx, resolveWithin)
	defer cancel()
	_, err := infoOf(ctx, nc, at)
	switch {
	case err == nil:
		return ErrNoLeader
	case errors.Is(err, nats.ErrPermissionViolation):
		// A denied question proves nothing about the bucket.
		return fmt.Errorf("%w, or it is gone (%v)", ErrNoLeader, err)
	case gone(err) || errors.Is(err, nats.ErrConnectionClosed):
		return err
	}
	return fmt.Errorf("%w (%v)", ErrNoLeader, err)
}

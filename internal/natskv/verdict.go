package natskv

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
)

// confirmAfter is the time between the two answers that must agree before a bucket in use counts as gone.
const confirmAfter = 300 * time.Millisecond

// verdict says what became of a store that was there before and that nobody listens for now. It is permanent only when
// the server has said twice that the bucket is gone or JetStream off, on one connection: for a moment a server that is
// going down looks just like that, and its sessions are to outlive it. Otherwise it is ErrNoLeader.
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

// gone reports whether the server itself has said that there is nothing.
func gone(err error) bool {
	return Permanent(err) && (errors.Is(err, ErrBucketNotFound) || errors.Is(err, ErrJetStreamOff))
}

// ask asks once, and never returns nil.
func ask(ctx context.Context, nc *nats.Conn, at place) error {
	ctx, cancel := context.WithTimeout(ctx, inquiryWithin)
	defer cancel()
	_, err := infoOf(ctx, nc, at)
	switch {
	case err == nil:
		return ErrNoLeader
	case errors.Is(err, nats.ErrPermissionViolation):
		// Not being allowed to ask says nothing about the bucket.
		return fmt.Errorf("%w, or it is gone (%v)", ErrNoLeader, err)
	case gone(err) || errors.Is(err, nats.ErrConnectionClosed):
		return err
	}
	return fmt.Errorf("%w (%v)", ErrNoLeader, err)
}

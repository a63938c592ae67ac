package assign

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// errReconnected is the cause of a context that has ended with a reconnect.
var errReconnected = errors.New("the connection was lost meanwhile")

// untilReconnect is ctx, and ends besides with the next reconnect, with the connection, and with ends (nil: never). It is for
// what asks the server several things one after the other under one long limit: what was asked on a connection that is lost is
// never answered. Release must follow; it returns err, and why it is what it is.
func untilReconnect(ctx context.Context, nc *nats.Conn, ends <-chan struct{}) (until context.Context, release func(err error) error) {
	until, cancel := context.WithCancelCause(ctx)
	changes := nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		select {
		case <-changes:
			cancel(errReconnected)
		case <-ends:
			cancel(ErrClosed)
		case <-until.Done():
		}
	}()
	return until, func(err error) error {
		if errors.Is(context.Cause(until), errReconnected) && errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w: %w", errReconnected, err)
		}
		cancel(nil)
		<-joined
		nc.RemoveStatusListener(changes)
		return err
	}
}

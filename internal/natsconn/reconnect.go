package natsconn

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// ErrReconnected is the cause of a context that has ended with a reconnect.
var ErrReconnected = errors.New("the connection was lost meanwhile")

// UntilReconnect derives a context that also ends with the next reconnect, with the close of the
// connection, and with ends. If ends ends it, the cause is closed. A nil ends never ends it.
//
// It is for several requests in a row under one long limit, because a request on a lost connection
// is never answered. The caller must call release. Release returns err, and wraps it in
// [ErrReconnected] if the reconnect is the reason for err.
func UntilReconnect(ctx context.Context, nc *nats.Conn, ends <-chan struct{},
	closed error,
) (until context.Context, release func(err error) error) {
	until, cancel := context.WithCancelCause(ctx)
	changes := nc.StatusChanged(nats.CONNECTED, nats.CLOSED)
	joined := make(chan struct{})
	go func() {
		defer close(joined)
		select {
		case <-changes:
			cancel(ErrReconnected)
		case <-ends:
			cancel(closed)
		case <-until.Done():
		}
	}()
	return until, func(err error) error {
		if errors.Is(context.Cause(until), ErrReconnected) && errors.Is(err, context.Canceled) {
			err = fmt.Errorf("%w: %w", ErrReconnected, err)
		}
		cancel(nil)
		<-joined
		nc.RemoveStatusListener(changes)
		return err
	}
}

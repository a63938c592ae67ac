package natsrun

import (
	"errors"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
)

// connectAttempts is how often a slow client tries to connect, because its own limit of two seconds
// is for reconnecting.
const connectAttempts = 5

// connect is nats.Connect on a machine that may be busy: a handshake that took too long is started
// again.
func connect(urls string, opts ...nats.Option) (*nats.Conn, error) {
	nc, err := nats.Connect(urls, opts...)
	for range connectAttempts - 1 {
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		nc, err = nats.Connect(urls, opts...)
	}
	if err != nil {
		return nil, fmt.Errorf("natsrun: connect: %w", err)
	}
	return nc, nil
}

package natsconn

import (
	"errors"
	"slices"

	"github.com/nats-io/nats.go"
)

var refusals = []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrAuthRevoked, nats.ErrAccountAuthExpired}

// Refused reports whether err says that a server refuses the credentials. New ones may be on their
// way, so it is permanent only before the first connection.
func Refused(err error) bool {
	return slices.ContainsFunc(refusals, func(refusal error) bool { return errors.Is(err, refusal) })
}

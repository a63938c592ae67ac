package stream

import (
	"errors"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// verdict is the meaning of an error for a write that is not known to be stored. All but the first
// say that the write is not stored.
type verdict uint8

const (
	Uncertain verdict = iota // it may be stored
	torn                     // the server has not got the whole batch, and it is not known why
	NoRoom                   // the stream is full
	Never                    // the server does not take the write, and never will
	Denied                   // we are not allowed to
)

const codeAccountFull = 10002

const codeServerFull = 10023

const codeMemoryFull = 10028

const codeStorageFull = 10047

const codeTooLarge = 10054

const codeStoreFailed = 10077 // it says why

const codeHeaderTooLarge = 10097

const codeWriteInFlight = 10164

const codeInvalidTTL = 10165

const codeIncompleteBatch = 10176

func Judge(err error) verdict {
	api := (*jetstream.APIError)(nil)
	switch {
	case errors.Is(err, nats.ErrPermissionViolation):
		return Denied
	case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, natskv.ErrInvalidKey):
		return Never
	case !errors.As(err, &api):
		return Uncertain
	}
	switch api.ErrorCode {
	case codeTooLarge, codeHeaderTooLarge, codeInvalidTTL:
		return Never
	case codeAccountFull, codeServerFull, codeMemoryFull, codeStorageFull:
		return NoRoom
	case codeIncompleteBatch:
		return torn
	case codeStoreFailed:
		switch {
		case strings.Contains(api.Description, "too large"):
			return Never
		case strings.Contains(api.Description, "maximum"): // messages, or bytes, exceeded
			return NoRoom
		}
	}
	return Uncertain
}

// IsConflict reports whether a write was refused because another one is in flight under the same
// condition. Only a stream with replicas does that. If our writes are pipelined, the stream has
// been given its replicas since we lead.
func IsConflict(err error) bool {
	api := (*jetstream.APIError)(nil)
	return errors.As(err, &api) && api.ErrorCode == codeWriteInFlight
}

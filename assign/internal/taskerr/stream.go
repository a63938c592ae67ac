package taskerr

import (
	"errors"

	"github.com/rolemanager/rolemanager/internal/natskv"
)

// Errors of the stream and of the object store.
var (
	ErrStreamNotFound  = errors.New("assign: stream not found")
	ErrOtherStream     = natskv.ErrOtherBucket
	ErrNoDomain        = natskv.ErrNoDomain
	ErrOldFormat       = natskv.ErrOldFormat
	ErrObjectsNotFound = errors.New(
		"assign: object store not found: make it with CreateObjects or \"rolectl tasks create\", or set StreamAutoCreate")
	ErrStreamFull = errors.New(
		"assign: the tasks' stream is full: raise its max_bytes or max_msgs, or the account's storage, or keep outcomes " +
			"for a shorter time (Retention)")
	ErrUnstorable = errors.New(
		"assign: the server does not take the record: raise max_msg_size of the stream, or max_payload of the server")
)

package assign

import (
	"errors"
	"strings"

	"github.com/rolemanager/rolemanager/election"
)

var (
	// ErrStreamFull says that the namespace's stream, or what the account may store, has no room: nothing was stored. Tasks end
	// as soon as there is room again: outcomes leave by themselves when their kind's Retention is over.
	ErrStreamFull = errors.New("assign: the tasks' stream is full: raise its max_bytes or max_msgs, or the account's storage, or keep outcomes for a shorter time (Retention)")
	// ErrUnstorable is the error of the event.Fault of a record that the server never takes as it is, most often since it is too
	// large. A task whose outcome it is ends as dead, with the cause unstorable; other records are tried again now and then.
	ErrUnstorable = errors.New("assign: the server does not take the record: raise max_msg_size of the stream, or max_payload of the server")
)

// permissionError is a denial of the server, election.ErrPermission for who asks. It names the subject.
type permissionError struct{ err error }

func (e *permissionError) Error() string {
	return "assign: " + strings.TrimPrefix(e.err.Error(), "assign: ")
}
func (e *permissionError) Is(target error) bool { return target == election.ErrPermission }
func (e *permissionError) Unwrap() error        { return e.err }

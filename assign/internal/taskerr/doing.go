package taskerr

import (
	"fmt"
	"strings"

	"github.com/rolemanager/rolemanager/election"
)

const prefix = "assign: "

// doing is an error together with what was being done.
type doing struct {
	what string
	err  error
}

func (e *doing) Error() string {
	return prefix + e.what + ": " + strings.TrimPrefix(e.err.Error(), prefix)
}
func (e *doing) Unwrap() error { return e.err }

// Doing returns err together with what was being done; nil stays nil.
func Doing(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &doing{fmt.Sprintf(format, args...), err}
}

// TooLarge returns an ErrTooLarge that names the thing, its size and its limit in bytes, and the
// fix. Without a limit above 0 the server's max_payload leaves no room for any record.
func TooLarge(what string, size int, most int64, fix string) error {
	if most <= 0 {
		return fmt.Errorf(
			"%w: %s of %d bytes: the server's max_payload has no room for a record: raise it to 128 KiB at least",
			ErrTooLarge, what, size)
	}
	return fmt.Errorf("%w: %s of %d bytes, the limit is %d: %s", ErrTooLarge, what, size, most, fix)
}

// permission is a denial of the server. It is an election.ErrPermission for errors.Is.
type permission struct{ err error }

func (e *permission) Error() string        { return prefix + strings.TrimPrefix(e.err.Error(), prefix) }
func (e *permission) Is(target error) bool { return target == election.ErrPermission }
func (e *permission) Unwrap() error        { return e.err }

// Permission returns a denial of the server as an election.ErrPermission. The text of err names the
// subject.
func Permission(err error) error { return &permission{err} }

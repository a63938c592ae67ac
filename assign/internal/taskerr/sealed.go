package taskerr

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of values that a codec has sealed. Package assign documents them.
var (
	ErrUnknownKey = errors.New("assign: it is sealed with a key that this process does not have")
	ErrTampered   = errors.New("assign: it does not open with its key")
	ErrNotSealed  = errors.New("assign: it is not sealed")
)

// SealedError is an input, an output or a checkpoint that cannot be opened. Package assign
// documents it.
type SealedError struct {
	Task, Part, Key string
	Keys            []string
	Err             error
}

func (e *SealedError) Error() string {
	what := fmt.Sprintf("the %s of %s", e.Part, e.Task)
	switch {
	case errors.Is(e.Err, ErrNotSealed):
		return fmt.Sprintf("%v: %s: set AcceptPlain while a codec is being introduced; else somebody without the key "+
			"has written it", e.Err, what)
	case errors.Is(e.Err, ErrTampered):
		return fmt.Sprintf("%v: %s, with key %q: it was changed, or belongs to another task or namespace, or the key has "+
			"another secret here: submit the task again", e.Err, what, e.Key)
	case len(e.Keys) == 0:
		return fmt.Sprintf("%v: %s, with key %q: this process has no Codec: set it (rolectl: --key-file)", e.Err, what, e.Key)
	}
	return fmt.Sprintf("%v: %s, with key %q: this process has %s: add the key to its Codec", e.Err, what, e.Key,
		strings.Join(e.Keys, ", "))
}

func (e *SealedError) Unwrap() error { return e.Err }

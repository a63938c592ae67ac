package sealed

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// Part is what a sealed value is of its task.
type Part string

// The parts of a task that are sealed.
const (
	Input      Part = "input"
	Output     Part = "output"
	Checkpoint Part = "checkpoint"
)

// mark begins a sealed value. The id of the key follows after its length, and then what the codec
// has made. JSON never begins so.
const mark = "\x00\xe2rmseal\x01"

// maxKey bounds the id of a key, in bytes.
const maxKey = 64

// Sealer seals and opens the values of one namespace. A nil Sealer has no codec: it leaves values
// as they are, and opens nothing.
type Sealer struct {
	namespace string
	codec     codec
	plain     bool
}

// codec is what assign.Codec is.
type codec interface {
	Seal(data, about []byte) (key string, sealed []byte, err error)
	Open(key string, sealed, about []byte) ([]byte, error)
	Keys() []string
}

// New makes the Sealer of a namespace. plain says that values which are not sealed are accepted.
func New(namespace string, c codec, plain bool) *Sealer { return &Sealer{namespace, c, plain} }

// Keys are the ids of the keys that it opens.
func (s *Sealer) Keys() []string {
	if s == nil {
		return nil
	}
	return s.codec.Keys()
}

// Seal seals a part of a task. Errors: the codec's.
func (s *Sealer) Seal(part Part, task string, data []byte) ([]byte, error) {
	if s == nil {
		return data, nil
	}
	key, sealed, err := s.codec.Seal(data, s.about(part, task))
	switch {
	case err != nil:
		return nil, fmt.Errorf("seal the %s of %s: %w", part, task, err)
	case key == "" || len(key) > maxKey:
		return nil, fmt.Errorf("seal the %s of %s: the codec names its key %.100q: use 1 to %d bytes", part, task, key,
			maxKey)
	}
	b := make([]byte, 0, len(mark)+1+len(key)+len(sealed))
	b = append(append(append(b, mark...), byte(len(key))), key...)
	return append(b, sealed...), nil
}

// Open opens a part of a task. Errors: a *taskerr.SealedError.
func (s *Sealer) Open(part Part, task string, data []byte) ([]byte, error) {
	key, sealed, is := split(data)
	fault := func(err error) error {
		return &taskerr.SealedError{Task: task, Part: string(part), Key: key, Keys: s.Keys(), Err: err}
	}
	switch {
	case !is && (s == nil || s.plain):
		return data, nil
	case !is:
		return nil, fault(taskerr.ErrNotSealed)
	case s == nil:
		return nil, fault(taskerr.ErrUnknownKey)
	}
	opened, err := s.codec.Open(key, sealed, s.about(part, task))
	if err != nil && !errors.Is(err, taskerr.ErrUnknownKey) && !errors.Is(err, taskerr.ErrTampered) {
		err = fmt.Errorf("%w: %w", taskerr.ErrTampered, err)
	}
	if err != nil {
		return nil, fault(err)
	}
	return opened, nil
}

// KeyOf is the id of the key with which a value is sealed, "" if it is not sealed.
func KeyOf(data []byte) string {
	key, _, _ := split(data)
	return key
}

func split(data []byte) (key string, sealed []byte, is bool) {
	rest, is := bytes.CutPrefix(data, []byte(mark))
	if !is || len(rest) == 0 || rest[0] == 0 || int(rest[0]) > min(maxKey, len(rest)-1) {
		return "", nil, false
	}
	n := 1 + int(rest[0])
	return string(rest[1:n]), rest[n:], true
}

// about is what a value is bound to. It can then not take the place of another one. The tasks of a
// recurrence share the input that was sealed with the definition, so it is bound to the recurrence.
func (s *Sealer) about(part Part, task string) []byte {
	if part == Input && strings.HasPrefix(task, record.TickPrefix) {
		if n := strings.LastIndexByte(task, '/'); n >= len(record.TickPrefix) {
			task = task[:n]
		}
	}
	return []byte("rolemanager/task/1\n" + s.namespace + "\n" + string(part) + "\n" + task)
}

// RecurrenceOf is the name under which the input of a recurrence is sealed.
func RecurrenceOf(name string) (task string) { return record.TickPrefix + name + "/" }

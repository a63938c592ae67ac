package client

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
)

// Submission is a task that is about to be submitted.
type Submission struct {
	ID     string
	Kind   string
	Policy record.Policy
	Header string // the policy, encoded; "" if it is still to be encoded
	Keys   record.Keys
	Unique string // the key, as it was given
	Meta   map[string]string
	Trace  string
	own    bool         // the client has made the id
	After  record.After // the tasks that it waits for
	Fault  error        // the first fault of the options
}

// Wait makes the task wait for others.
func (s *Submission) Wait(option string, ids []string, ended bool) {
	if s.After.IDs != nil && s.After.Ended != ended {
		s.Refuse("%s: a task waits for the success of others or for their end: use After or AfterEnded", option)
	}
	a := record.After{IDs: append(slices.Clone(s.After.IDs), ids...), Ended: ended}
	if fault := a.Check(); fault != "" {
		s.Refuse("%s: %s", option, fault)
	}
	s.After = a
	s.Edit().Version = record.PolicyAfter
}

// Refuse notes the first fault of the options.
func (s *Submission) Refuse(format string, args ...any) {
	if s.Fault == nil {
		s.Fault = fmt.Errorf("%w: %w", taskerr.ErrInvalidOption, fmt.Errorf(format, args...))
	}
}

// Edit returns the policy for changes.
func (s *Submission) Edit() *record.Policy {
	s.Header = ""
	return &s.Policy
}

// CheckKey refuses a key that cannot be stored, and returns it.
func (s *Submission) CheckKey(option, key string) string {
	if key == "" || len(key) > record.MaxKey {
		s.Refuse("%s: %d bytes: use 1 to %d", option, len(key), record.MaxKey)
	}
	if !utf8.ValidString(key) {
		s.Refuse("%s(%q): use UTF-8, or an encoding such as base64", option, key)
	}
	return key
}

package client

import (
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/groups"
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
	inside bool         // it is of a group: only then its id may say so
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

// Complete makes the task complete a group of so many members, whose outcomes are kept for as many
// seconds.
func (s *Submission) Complete(name string, size int, kept int64) {
	id, err := record.GroupID(name)
	if err != nil {
		s.Refuse("%w", err)
	}
	a := record.After{Group: size}
	if fault := record.CheckSize(size, &a); fault != "" { // also of none, which Check takes for no group
		s.Refuse("%s", fault)
	}
	s.ID, s.inside, s.After = id, true, a
	s.Edit().Version = record.PolicyAfter
	s.keep(kept)
}

// Join makes the task a member of the group that a task completes.
func (s *Submission) Join(completion string, index int) {
	s.ID, s.inside = groups.MemberID(completion, index), true
}

// KeepInGroup makes the outcomes of members last until their group is sure to be recorded. It
// returns for how many seconds one that has not died is kept.
func (s *Submission) KeepInGroup() (seconds int64) {
	s.keep(int64(record.GroupRetention / time.Second))
	return s.Policy.Retention
}

// keep makes the outcome last for so many seconds at least, also that of a dead task. The default
// of Dead follows Retention.
func (s *Submission) keep(least int64) {
	p := s.Edit()
	p.Retention = max(p.Retention, least)
	if p.Dead > 0 {
		p.Dead = max(p.Dead, least)
	}
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

// CheckFair refuses a fair key that cannot be stored, and returns it. It may be empty.
func (s *Submission) CheckFair(option, key string) string {
	if fault := record.CheckFair(key); fault != "" {
		s.Refuse("%s: %s", option, fault)
	}
	return key
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

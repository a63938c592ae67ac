package record

import (
	"errors"
	"time"
)

// Form is what stands at a key.
type Form uint8

const (
	FormNone    Form = iota // never seen
	FormRecord              // a record we understand
	FormMarker              // a delete, purge or expiry marker
	FormRemoved             // a marker over a role that was given up in order: its value is the vacancy
	FormMissing             // it was there, and a complete snapshot has it no more
	FormGarbage             // bytes that are not a record
	FormNewer               // a record of a later version: never killed, never claimed over
)

// Entry is one event of the watch, decoded. The machine never keeps a pointer to it.
type Entry struct {
	Kind     Kind
	Peer     Peer   // of a lease, an idle beat or a member record
	Name     string // of a role, or what a word of an operator is about
	Revision uint64
	Form     Form
	Problem  string // why Form is FormGarbage

	Lease  Lease
	Idle   IdleBeat
	Member *Member
	Role   Role
	Steer  Steer
}

// Decode turns what stands at a key into an Entry. It never fails: what cannot be read is an Entry
// too, since rules apply to it. An Entry of KindOther is for nobody.
func Decode(key string, value []byte, revision uint64, marker bool, maxTTL time.Duration) Entry {
	e := Entry{Revision: revision, Form: FormRecord}
	e.Kind, e.Peer, e.Name = ParseKey(key)
	if marker {
		e.readMarker(value, maxTTL)
		return e
	}
	var err error
	switch e.Kind {
	case KindLease:
		e.Lease, err = DecodeLease(value, maxTTL)
	case KindIdle:
		e.Idle, err = DecodeIdleBeat(value, maxTTL)
	case KindMember:
		var m Member
		m, err = DecodeMember(value)
		e.Member = &m
	case KindRole:
		e.Role, err = DecodeRole(value, maxTTL)
	case KindSteer:
		e.Steer, err = DecodeSteer(value)
	}
	switch {
	case errors.Is(err, ErrNewer):
		e.Form = FormNewer
	case err != nil:
		e.Form, e.Problem = FormGarbage, err.Error()
	}
	return e
}

// readMarker reads what a marker replaces, if its writer has said that. A session that has ended is
// a record of its end: the server leaves no marker of its own when that one expires.
func (e *Entry) readMarker(value []byte, maxTTL time.Duration) {
	e.Form = FormMarker
	switch {
	case len(value) == 0:
	case e.Kind == KindLease:
		if l, err := DecodeLease(value, maxTTL); err == nil && !l.Alive() {
			e.Form, e.Lease = FormRecord, l
		}
	case e.Kind == KindRole:
		if r, err := DecodeRole(value, maxTTL); err == nil && r.Vacant && !r.Forced {
			e.Form, e.Role = FormRemoved, r
		}
	}
}

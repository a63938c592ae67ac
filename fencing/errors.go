package fencing

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrStale says that a later term exists. The holder of the token has lost leadership and must
	// stop.
	ErrStale = errors.New("fencing: stale token")
	// ErrConflict says that two different holders show the same epoch and seq. The protocol rules
	// that out, so a token was forged, mixed up, or comes from another bucket.
	ErrConflict = errors.New("fencing: conflicting token")
	// ErrForeignSource says that a store is sealed by a term of another bucket of roles. See
	// SourceError.
	ErrForeignSource = errors.New("fencing: sealed from another bucket of roles")
	// ErrForeignRole says that the token is for another role than the guarded role.
	ErrForeignRole = errors.New("fencing: token of another role")
	// ErrNoToken says that a token without a role or an epoch was shown; an election that does not
	// lead hands out the zero token.
	ErrNoToken = errors.New("fencing: no token: not leading")
	// ErrSyntax says that a text is not an encoded token.
	ErrSyntax = errors.New("fencing: malformed token")
	// ErrUnknown says that it is unknown whether a write has landed. See UnknownError.
	ErrUnknown = errors.New("fencing: outcome unknown")
	// ErrRevision says that a key is not at the revision that Update was given.
	ErrRevision = errors.New("fencing: key is at another revision")
	// ErrKey says that a key cannot be written or watched in a Store.
	ErrKey = errors.New("fencing: invalid key")
	// ErrSeal says that the seal of a Store's bucket is missing or damaged: somebody has changed
	// the bucket by hand, or recreated it. Nothing can be fenced there until the store is opened
	// again.
	ErrSeal = errors.New("fencing: seal is missing or damaged")
	// ErrVolatile says that a bucket lies in the memory of one server, which forgets the seal when
	// it restarts: use file storage, or replicas.
	ErrVolatile = errors.New("fencing: bucket is volatile: use file storage or replicas")
	// ErrSignature says that a frame was not signed by the key of the verifier.
	ErrSignature = errors.New("fencing: signature does not verify")
)

// StaleError says which token was refused, and because of which later token. It is [ErrStale].
type StaleError struct {
	// Token is the token that was shown, High the largest token admitted before.
	Token, High Token
}

func (e *StaleError) Error() string {
	return fmt.Sprintf("%v: %v, but %v has been admitted; stop, or lead again to get a newer token", ErrStale,
		e.Token, e.High)
}

// Unwrap makes errors.Is(err, [ErrStale]) true.
func (e *StaleError) Unwrap() error { return ErrStale }

// ConflictError says which two tokens claim the same epoch and seq. It is [ErrConflict].
type ConflictError struct {
	// Token is the token that was shown, High the token admitted before.
	Token, High Token
}

func (e *ConflictError) Error() string {
	why := "with another id"
	if e.Token.Holder != e.High.Holder {
		why = "with another holder"
	}
	return fmt.Sprintf("%v: %v, but %v has been admitted %s; check that all tokens come from one bucket", ErrConflict,
		e.Token, e.High, why)
}

// Unwrap makes errors.Is(err, [ErrConflict]) true.
func (e *ConflictError) Unwrap() error { return ErrConflict }

// RoleError says that a guard or store of one role was shown the token of another. It is
// [ErrForeignRole].
type RoleError struct {
	// Want is the role that is guarded.
	Want  string
	Token Token
}

func (e *RoleError) Error() string {
	return fmt.Sprintf("%v: %v, but this guards %q; use one guard per resource and role", ErrForeignRole, e.Token, e.Want)
}

// Unwrap makes errors.Is(err, [ErrForeignRole]) true.
func (e *RoleError) Unwrap() error { return ErrForeignRole }

// SourceError says that a store is sealed by a term of another bucket of roles: leading again does
// not help. It is [ErrForeignSource].
type SourceError struct {
	// Store is the bucket of the store.
	Store string
	// Token is the token that was shown, High the one that has sealed the store. [Token.Source] names
	// the bucket of each.
	Token, High Token
}

func (e *SourceError) Error() string {
	theirs, ours := e.High.source, e.Token.source
	if theirs.Bucket == ours.Bucket {
		return fmt.Sprintf("%v: store %q has the epochs of an earlier bucket %q (id %s), and those of the present "+
			"one (id %s) have gone back: stop all processes, and run \"rolectl bucket adopt %[3]s\"", ErrForeignSource, e.Store,
			theirs.Bucket, theirs.ID, ours.ID)
	}
	return fmt.Sprintf("%v: store %q has the epochs of bucket %q (%v), and this token is of bucket %q (%v): give the "+
		"roles of each bucket a store of their own; if no process of bucket %[3]q writes there any more, remove its seal: "+
		"nats stream purge %[7]s --subject '%[8]s'", ErrForeignSource, e.Store, theirs.Bucket, e.High, ours.Bucket, e.Token,
		streamOf(e.Store), subjectOf(e.Store, sealKey))
}

// Unwrap makes errors.Is(err, [ErrForeignSource]) true.
func (e *SourceError) Unwrap() error { return ErrForeignSource }

// UnknownError says that it is unknown whether a write has landed, and why. It is [ErrUnknown]. The
// store itself is sound: before it writes again it makes sure that a write that has not landed
// never will. So reading the key with [Store.Latest] tells what became of the write.
type UnknownError struct {
	// Op is the operation ("put"), Key its key.
	Op, Key string
	// Err is why the outcome is unknown, such as the end of the context.
	Err error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%v: %s %q: %s; read the key with Latest", ErrUnknown, e.Op, e.Key,
		strings.TrimPrefix(e.Err.Error(), "fencing: "))
}

// Unwrap makes errors.Is true for [ErrUnknown] and for Err.
func (e *UnknownError) Unwrap() []error { return []error{ErrUnknown, e.Err} }

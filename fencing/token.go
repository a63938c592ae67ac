package fencing

import (
	"cmp"
	"crypto/subtle"

	"github.com/google/uuid"
)

// Token is the proof of one term. The holder of a role sends its token with every request to a
// resource, and the resource refuses the tokens of earlier terms with a [Guard].
//
// (M. Kleppmann, "How to do distributed locking", 2016; Chubby calls it a sequencer.)
//
// Tokens of one role are ordered by (Epoch, Seq). Seq orders tokens within an epoch; a role's own
// token has 0, a task's token has the number of the attempt. The id is random, and different for
// each term. Only [Token.Encode] shows it; printing, logging and marshalling leave it out.
//
// Do not compare tokens with ==, since == compares where the id is stored. Use [Token.Equal].
type Token struct {
	// Role is the role of the token. Tokens of different roles are not comparable.
	Role string
	// Holder is the instance that holds the role.
	Holder string
	// Epoch is the revision of the write that granted the term, never 0.
	Epoch uint64
	// Seq orders tokens of one epoch.
	Seq uint32

	id     *secretID
	source *Source
}

// Source is the bucket of roles that has given an epoch. Epochs of two buckets tell nothing about
// each other. ID distinguishes a bucket from every other one that had its name.
type Source struct{ Bucket, ID string }

// WithSource returns t as a token of that bucket. It is for code that grants terms; the tokens of
// elections have it. [Token.Encode] leaves the source out.
func (t Token) WithSource(s *Source) Token {
	t.source = s
	return t
}

// Source is the bucket that the token is of, nil if that is not known.
func (t Token) Source() *Source { return t.source }

// secretID hides the id from fmt, which prints a struct with a token in an unexported field by
// reflection, without calling a method. One pointer is not enough: for a verb that does not fit,
// such as %s, fmt follows the first pointer.
type secretID struct{ value *uuid.UUID }

// NewToken makes the token of a term. It is for code that grants terms; a user gets tokens from an
// election, a task, or [Parse]. With [uuid.Nil] the token has no id and cannot be encoded.
func NewToken(role, holder string, epoch uint64, seq uint32, id uuid.UUID) Token {
	t := Token{Role: role, Holder: holder, Epoch: epoch, Seq: seq}
	if id != uuid.Nil {
		t.id = &secretID{&id}
	}
	return t
}

// IsZero reports whether t is the zero token, which says "not leading" and which every guard
// refuses.
func (t Token) IsZero() bool { return t == Token{} }

// Compare is negative if t is older than u, positive if t is newer, and 0 if both have the same
// epoch and seq. It is meaningless for tokens of different roles.
func (t Token) Compare(u Token) int {
	return cmp.Or(cmp.Compare(t.Epoch, u.Epoch), cmp.Compare(t.Seq, u.Seq))
}

// Equal reports whether all of t and u is the same, the id included.
func (t Token) Equal(u Token) bool {
	return t.Epoch == u.Epoch && t.Seq == u.Seq && t.Role == u.Role && t.Holder == u.Holder &&
		(t.id == u.id || t.SameID(u))
}

// SameID reports, in constant time, whether both tokens have the same id. It is false if a token
// has no id.
func (t Token) SameID(u Token) bool {
	return t.id != nil && u.id != nil && subtle.ConstantTimeCompare(t.id.value[:], u.id.value[:]) == 1
}

// presentable reports whether t can be ordered: it has a role and an epoch.
func (t Token) presentable() bool { return t.Role != "" && t.Epoch != 0 }

// conflicts reports whether t and u, of the same role, epoch and seq, cannot be one term. A part
// that one of them lacks is not a contradiction: a floor that was restored from an epoch alone has
// no holder and no id.
func (t Token) conflicts(u Token) bool {
	if t.Holder != u.Holder && t.Holder != "" && u.Holder != "" {
		return true
	}
	return t.id != u.id && t.id != nil && u.id != nil && !t.SameID(u)
}

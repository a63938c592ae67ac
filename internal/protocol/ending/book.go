package ending

import (
	"errors"
	"maps"
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Word is what a process says about one of its leases, in its own order.
type Word struct {
	Key   string `json:"key"`   // of the lease
	Nonce string `json:"nonce"` // of the incarnation that speaks
	// Lease is what that incarnation has written and knows to be there, at Revision. While Revision is
	// 0 it is about to open.
	Revision uint64       `json:"revision,omitempty"`
	Lease    record.Lease `json:"lease,omitzero"`
	Closed   bool         `json:"closed,omitempty"` // it has ended the lease itself
}

// The bounds of what one process may have told. A process has a session for each bucket.
const (
	MostLeases = 64
	MostNonces = 16
)

var (
	ErrWord    = errors.New("a word about no lease")
	ErrTooMany = errors.New("words about too many leases")
)

// Book is what one process has told about its leases. The zero value is ready for use.
type Book struct{ leases map[string]*told }

// told is what is known of one key.
type told struct {
	nonces   []string // that may be there, the oldest first
	revision uint64   // of lease, 0: not known
	lease    record.Lease
}

// Hear takes a word. Errors: ErrWord, ErrTooMany; the word is not taken then.
func (b *Book) Hear(w Word) error {
	kind, _, _ := record.ParseKey(w.Key)
	if kind != record.KindLease || w.Nonce == "" || w.Revision > 0 && w.Lease.Nonce != w.Nonce {
		return ErrWord
	}
	t := b.leases[w.Key]
	switch {
	case w.Closed:
		if t != nil {
			t.forget(w.Nonce)
		}
		return nil
	case t == nil && len(b.leases) >= MostLeases:
		return ErrTooMany
	case t == nil:
		t = &told{}
		if b.leases == nil {
			b.leases = map[string]*told{}
		}
		b.leases[w.Key] = t
	}
	if !slices.Contains(t.nonces, w.Nonce) {
		t.nonces = append(t.nonces, w.Nonce)
	}
	if w.Revision > t.revision {
		t.revision, t.lease = w.Revision, w.Lease
		t.nonces = t.nonces[slices.Index(t.nonces, w.Nonce):] // those before it were replaced
	}
	if extra := len(t.nonces) - MostNonces; extra > 0 {
		t.nonces = slices.Delete(t.nonces, 0, extra)
	}
	return nil
}

// forget strikes an incarnation that has ended its lease.
func (t *told) forget(nonce string) {
	t.nonces = slices.DeleteFunc(t.nonces, func(n string) bool { return n == nonce })
	if t.lease.Nonce == nonce {
		t.revision, t.lease = 0, record.Lease{}
	}
}

// Ended says that the process has ended, and returns what is to be done about its leases, by key.
// The book is empty then.
func (b *Book) Ended() (list []*Ending) {
	for _, key := range slices.Sorted(maps.Keys(b.leases)) {
		if t := b.leases[key]; len(t.nonces) > 0 {
			list = append(list, &Ending{key: key, nonces: t.nonces, revision: t.revision, lease: t.lease})
		}
	}
	b.leases = nil
	return list
}

// Said is what a write of a lease says: before it is sent, with revision 0, and when it is known to
// be stored at a revision. ok is false for a write that says nothing.
func Said(key string, value []byte, marker bool, revision uint64) (w Word, ok bool) {
	e := record.Decode(key, value, revision, marker, record.MaxSupportedTTL)
	if e.Kind != record.KindLease || e.Form != record.FormRecord || e.Lease.Nonce == "" {
		return Word{}, false
	}
	w = Word{Key: key, Nonce: e.Lease.Nonce, Closed: !e.Lease.Alive()}
	if revision > 0 && !w.Closed {
		w.Revision, w.Lease = revision, e.Lease
	}
	return w, !w.Closed || revision > 0
}

package ending

import (
	"cmp"
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

// The bounds of what is kept. A process has a session for each bucket, as a rule. Of more leases,
// the one is forgotten that has been silent for the longest time: the TTL decides about it.
const (
	MostLeases = 64
	MostNonces = 16
)

// ErrWord means that a word is about no lease.
var ErrWord = errors.New("a word about no lease")

// Book is what one process has told about its leases. The zero value is ready for use.
type Book struct {
	leases map[string]*told
	words  uint64
}

// told is what is known of one key.
type told struct {
	last     uint64   // the number of the last word about it
	nonces   []string // that may be there, the oldest first
	revision uint64   // of lease, 0: not known
	lease    record.Lease
}

// Hear takes a word. Errors: ErrWord; the word is not taken then.
func (b *Book) Hear(w Word) error {
	kind, _, _ := record.ParseKey(w.Key)
	if kind != record.KindLease || w.Nonce == "" || w.Revision > 0 && w.Lease.Nonce != w.Nonce {
		return ErrWord
	}
	b.words++
	t := b.leases[w.Key]
	switch {
	case w.Closed && t != nil:
		if t.forget(w.Nonce); len(t.nonces) == 0 {
			delete(b.leases, w.Key)
		}
		return nil
	case w.Closed:
		return nil
	case t == nil:
		t = b.room(w.Key)
	}
	t.last = b.words
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

// room makes a place for a lease, if need be that of the one that has been silent for the longest
// time.
func (b *Book) room(key string) *told {
	if len(b.leases) >= MostLeases {
		delete(b.leases, slices.MinFunc(slices.Collect(maps.Keys(b.leases)), func(x, y string) int {
			return cmp.Compare(b.leases[x].last, b.leases[y].last)
		}))
	}
	if b.leases == nil {
		b.leases = map[string]*told{}
	}
	t := &told{}
	b.leases[key] = t
	return t
}

// Empty reports whether nothing is known of any lease.
func (b *Book) Empty() bool { return len(b.leases) == 0 }

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

// Said is what a beat says: before it is sent, with revision 0, and when it is known to be stored
// at a revision. ok is false for any other write.
func Said(key string, value []byte, marker bool, revision uint64) (w Word, ok bool) {
	e := record.Decode(key, value, revision, marker, record.MaxSupportedTTL)
	if e.Kind != record.KindLease || e.Form != record.FormRecord || e.Lease.Nonce == "" || !e.Lease.Alive() {
		return Word{}, false
	}
	w = Word{Key: key, Nonce: e.Lease.Nonce}
	if revision > 0 {
		w.Revision, w.Lease = revision, e.Lease
	}
	return w, true
}

package ending

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
)

// MostRefusals is after how many refusals the TTL decides.
const MostRefusals = 5

// By is the writer that the record of a killed session names.
const By = "guard"

// Ending is what is done about one lease of a process that has ended.
type Ending struct {
	key      string
	nonces   []string
	revision uint64 // of lease; 0: it has to be read
	lease    record.Lease
	refused  int
	over     bool
	killed   bool
	dead     bool // it had ended before
}

// Step is what comes next.
type Step uint8

const (
	Over  Step = iota // nothing: it is killed, or the TTL decides
	Read              // ask the leader of the store what is there, and tell Found or Missing
	Write             // write what Kill returns, and tell Written
)

// Next says what comes next.
func (e *Ending) Next() Step {
	switch {
	case e.over:
		return Over
	case e.revision == 0:
		return Read
	}
	return Write
}

// Key is the key of the lease.
func (e *Ending) Key() string { return e.key }

// Killed reports whether the session is known to be ended by us.
func (e *Ending) Killed() bool { return e.killed }

// Dead reports whether the lease is known to have ended without us: nobody waits for its TTL.
func (e *Ending) Dead() bool { return e.dead }

// Kill is the write that ends the session: a marker with this value, on the condition that the key
// is still at the revision expect. The server keeps it for ttl, in a bucket whose longest TTL is
// maxTTL.
func (e *Ending) Kill(maxTTL time.Duration) (value []byte, expect uint64, ttl time.Duration) {
	session := e.lease.Session
	if session == 0 { // its first write
		session = e.revision
	}
	return record.Encode(record.Lease{
		V: record.Version, State: record.Killed, By: By, Session: session, Nonce: e.lease.Nonce, Beat: e.lease.Beat,
		AtRest: e.lease.State == record.Idle, // to begin something would be a write of this lease
	}), e.revision, view.Tombstone(maxTTL)
}

// Written says what became of the write. One that is unknown may have ended the session: what is
// there tells.
func (e *Ending) Written(o record.Outcome) {
	switch o {
	case record.Won:
		e.over, e.killed = true, true
	case record.Refused:
		e.refused++
		e.over = e.refused >= MostRefusals
	}
	e.revision = 0
}

// Found says what is at the key.
func (e *Ending) Found(x *record.Entry) {
	ours := x.Form == record.FormRecord && slices.Contains(e.nonces, x.Lease.Nonce)
	if ours && x.Lease.Alive() {
		e.revision, e.lease = x.Revision, x.Lease
		return
	}
	e.over = true
	e.killed = ours && x.Lease.State == record.Killed && x.Lease.By == By
	e.dead = ours && !e.killed
}

// Missing says that nothing is at the key.
func (e *Ending) Missing() { e.over = true }

package roles

import (
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/inventory"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// term is one term that was seen: its beginning, and how the record ended it.
type term struct {
	Leader string    `json:"leader"`
	Epoch  uint64    `json:"epoch"`
	Began  time.Time `json:"began"`
	Ended  time.Time `json:"ended,omitzero"` // when it was vacated, claimed by another, or lost its session; zero while it lasts
	Reason string    `json:"reason,omitempty"`
}

// termLog collects the terms of one role from its records.
type termLog struct {
	key string

	mu    sync.Mutex
	terms []term
}

// maxTerms bounds the number of terms kept; the oldest are dropped.
const maxTerms = 100

func (l *termLog) observe(r inventory.Record) {
	if r.Key != l.key {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.open(); last != nil {
		last.Ended, last.Reason = r.Time, r.Role.Reason
		if !r.Role.Vacant {
			last.Reason = "claimed by another"
			if r.Role.ID == last.Leader {
				last.Reason = "renewed"
			}
		}
	}
	if r.Form == record.FormRecord && !r.Role.Vacant {
		l.terms = append(l.terms, term{Leader: r.Role.ID, Epoch: r.Revision, Began: r.Time})
		if len(l.terms) > maxTerms {
			l.terms = l.terms[1:]
		}
	}
}

// open is the term that lasts, as far as the record tells, nil for none. The caller holds the lock.
func (l *termLog) open() *term {
	if n := len(l.terms); n > 0 && l.terms[n-1].Ended.IsZero() {
		return &l.terms[n-1]
	}
	return nil
}

// all are the terms that were seen, of the role that d describes. A term whose session has ended
// lasts in the record until another one claims the role.
func (l *termLog) all(d inventory.RoleState) []term {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.open(); last != nil && !d.Ended.IsZero() {
		last.Ended, last.Reason = d.Ended, "its session ended"
		if d.Ended.Before(last.Began) { // both are the server's times, and the end is counted back from now
			last.Ended = last.Began
		}
	}
	return append([]term{}, l.terms...)
}

package protocol

import (
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// keepVacancy writes the vacancy of a role again that we want and do not lead, long before the
// server removes it: all of its candidates may be paused or unwell for days. So why nobody leads
// stays known, and a candidate that comes back waits for nothing. After a record that has expired
// it would wait as after one that somebody has deleted.
//
// A role that was vacated by force is free in order once all have waited for it.
func (m *Machine) keepVacancy(r *role) {
	if r.Form != record.FormRecord || !r.Role.Vacant || r.claim != nil || r.leaving != nil || m.closing.asked {
		return
	}
	due := r.Seen.Add(m.cfg.Vacancy / 8)
	if free, ok := m.claimableSince(r.RoleView); ok {
		due = max(due, free)
	}
	if m.now.Observer >= due { // nobody draws a lot that has nothing to write
		due = due.Add(time.Duration(m.lot() * float64(m.cfg.Vacancy) / 8))
	}
	switch {
	case r.Notes.inflight:
	case m.now.Observer < due:
		m.wakeRole(r.RoleView, due)
	case !m.due(&r.Notes.retry):
		m.wakeRole(r.RoleView, r.Notes.retry.after)
	case m.enter(r.RoleView):
		rec := r.Role
		rec.Forced, rec.Next = false, ""
		m.putVacancy(r.RoleView, rec)
	}
}

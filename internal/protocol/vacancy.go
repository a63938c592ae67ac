package protocol

import (
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Abandoned is the reason of a vacancy that others have written for a leader whose session had
// ended.
const Abandoned = "session ended"

// giveUp writes that nobody holds a role. The vacancy tells who held it last, and why it was given
// up, and a candidate that did not see that waits for nothing.
//
// A role that nobody wants needs no vacancy: one that is absent waits for nothing either. So where
// many are vacant already, it is removed at once, and names that come and go do not fill the
// bucket. The marker tells those who watch, and leaves after a lease time.
func (m *Machine) giveUp(rv *RoleView, rec record.Role) {
	if rec.Forced || m.view.Vacancies() < m.cfg.Vacancies || m.wanted(rv) {
		m.putVacancy(rv, rec)
		return
	}
	rec.Next, rec.TTLms = "", m.cfg.removal().Milliseconds()
	m.putRole(rv, record.FormRemoved, rec, Write{TTL: m.cfg.removal(), Delete: true})
}

func (m *Machine) putVacancy(rv *RoleView, rec record.Role) {
	m.putRole(rv, record.FormRecord, rec, Write{TTL: m.cfg.Vacancy})
}

// Eviction is the write by which an operator takes a role from the session that holds it, by held
// at epoch. Others wait for its whole lease from when they see this. So the server is not to let it
// expire: a process that finds a role absent waits for nothing, and the server's clock may step. A
// candidate that wants the role makes it a vacancy in order.
func Eviction(role string, held record.Role, epoch uint64) Write {
	return Write{Key: record.RoleKey(role), Expect: epoch, Value: record.Encode(record.Role{
		V: record.Version, TTLms: held.TTLms, Vacant: true, By: held.ID, Reason: "evicted", Forced: true,
	})}
}

func (m *Machine) putRole(rv *RoleView, form record.Form, rec record.Role, w Write) {
	rv.Notes.inflight = true
	m.vacates++
	w.Key = record.RoleKey(rv.Name)
	m.put(pending{
		purpose: forVacate, role: rv, expect: rv.Revision, stood: rv.Revision,
		entry: record.Entry{Kind: record.KindRole, Name: rv.Name, Form: form, Role: rec},
	}, w, rec)
}

// wanted reports whether somebody takes part in a role, also one that is not eligible now.
func (m *Machine) wanted(rv *RoleView) bool {
	if r := rv.Notes.mine; r != nil && r.leaving == nil && !m.closing.asked {
		return true
	}
	return slices.ContainsFunc(rv.Candidates, func(p *PeerView) bool { return p != m.self && p.Belongs() })
}

// giveUpForDead gives up a role that is held by a dead session, when nobody who wants it has come
// for the longest lease time. Its record would stay for ever, since a process claims only what it
// wants. The condition is that of a claim: the session is dead for certain.
//
// Every candidate may do it whose user may write that key. One that may not leaves it to others.
func (m *Machine) giveUpForDead(rv *RoleView) {
	since, dead := m.view.DeadSince(rv)
	if !dead || m.barred || m.closing.asked || !m.view.Whole() || m.wanted(rv) {
		return
	}
	due := since.Add(m.cfg.MaxTTL)
	if m.now.Observer >= due {
		due = due.Add(m.rankDelay(m.view.Peer(rv.Role.Holder())))
	}
	switch {
	case rv.Notes.inflight:
	case m.now.Observer < due:
		m.wakeRole(rv, due)
	case !m.due(&rv.Notes.retry):
		m.wakeRole(rv, rv.Notes.retry.after)
	case m.enter(rv):
		m.giveUp(rv, record.Role{
			V: record.Version, TTLms: rv.Role.TTLms, Vacant: true, By: rv.Role.ID, Reason: Abandoned,
		})
	}
}

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

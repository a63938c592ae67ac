package protocol

import "github.com/rolemanager/rolemanager/internal/protocol/record"

// considerRotation rewrites our own role record now and then, with a fresh token: its new revision
// is the next epoch of the same, uninterrupted term.
func (m *Machine) considerRotation(r *role) {
	t, task := r.term, &r.Notes
	switch {
	case t.rotateAt == 0 || task.inflight || t.handover.target != "":
	case m.now.Observer < t.rotateAt:
		m.wakeRole(r.RoleView, t.rotateAt)
	case !m.due(&task.retry):
		m.wakeRole(r.RoleView, task.retry.after)
	case m.enter(r.RoleView):
		if t.rotating == "" {
			t.rotating, t.rotatingSince = m.cfg.NewID(), m.now.Observer
			task.token, task.known = t.rotating, m.view.Last()
		}
		rec := r.Role
		rec.Token = t.rotating
		if backs := backsOf(&rec).Ended(m.now.Observer.Sub(t.began), r.failBack); backs.Failed == 0 { // it has lasted
			rec.FailBacks, rec.FailedBack = 0, false
		}
		task.inflight = true
		m.put(pending{
			purpose: forRotate, role: r.RoleView, expect: t.epoch, stood: t.epoch,
			entry: record.Entry{Kind: record.KindRole, Name: r.Name, Form: record.FormRecord, Role: rec},
		}, Write{Key: record.RoleKey(r.Name)}, rec)
	}
}

// adoptRotation takes the new epoch once the record that carries our new token is known to stand.
func (m *Machine) adoptRotation(r *role) {
	t := r.term
	if t.rotating == "" || !m.names(r.RoleView) || r.Role.Token != t.rotating || r.Revision <= t.epoch {
		return
	}
	t.epoch, t.token, t.rotating = r.Revision, t.rotating, ""
	m.expect(t.epoch, r.RoleView)
	t.rotateAt = m.now.Observer.Add(m.cfg.Rotation)
	if t.leading() {
		m.emit(Rotated{r.Name, t.token, t.id, t.epoch})
	}
}

func (m *Machine) rotationWritten(p pending, w Written, mine bool) {
	rv := p.role
	rv.Notes.inflight = false
	m.touchRole(rv)
	if !mine {
		return
	}
	switch w.Outcome {
	case record.Won:
		rv.Notes.retry = retry{}
	case record.Refused:
		if rv.Notes.retry = (retry{}); rv.Revision == p.stood {
			m.unexplained(&rv.Notes.retry)
		}
	case record.Unknown:
		m.unknown(&rv.Notes.retry, "rotate the token", rv.Name)
	}
}

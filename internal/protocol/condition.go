package protocol

import (
	"slices"

	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// Condition tells of a term of another session of this process, or of this one, on which roles of
// ours depend: its epoch, 0 for none, and until when it is trusted, on the holder's scale. Until
// the first one is told, there is none.
type Condition struct {
	ID    uint64
	Term  uint64
	Until record.Instant
}

// dependsOn is the condition of that id, nil for 0. It is made when the first role depends on it.
func (m *Machine) dependsOn(id uint64, name string) *condition {
	if id == 0 {
		return nil
	}
	c := m.condition(id)
	if c == nil {
		c = &condition{id: id, name: name}
		m.conditions = append(m.conditions, c)
	}
	c.parts++
	return c
}

func (m *Machine) condition(id uint64) *condition {
	i := slices.IndexFunc(m.conditions, func(c *condition) bool { return c.id == id })
	if i < 0 {
		return nil
	}
	return m.conditions[i]
}

// letGo is called for a role that does not depend on c any more.
func (m *Machine) letGo(c *condition) {
	if c == nil {
		return
	}
	if c.parts--; c.parts == 0 {
		m.conditions = slices.DeleteFunc(m.conditions, func(other *condition) bool { return other == c })
	}
}

func (x Condition) apply(m *Machine) {
	c := m.condition(x.ID)
	if c == nil {
		return // no role depends on it any more
	}
	if x.Term == 0 || x.Until <= m.now.Holder {
		m.setTerm(c, 0)
		return
	}
	c.until = x.Until
	m.setTerm(c, x.Term)
}

// expireConditions ends what depends on a term that is not trusted any more, though nobody has told
// so: the session that has it may hang.
func (m *Machine) expireConditions() {
	for _, c := range m.conditions {
		if c.term != 0 && c.until <= m.now.Holder {
			m.setTerm(c, 0)
		}
	}
}

// setTerm takes in another term. The terms that belong to the last one end, also when the next one
// has begun already: nobody knows who has led in between.
func (m *Machine) setTerm(c *condition, term uint64) {
	if c.term == term {
		return
	}
	c.term = term
	for _, r := range m.active.list {
		if r.condition == c && r.term.leading() && r.term.under != term {
			m.endTerm(r, ConditionEnded, "")
		}
	}
	for _, rv := range m.view.Roles() {
		if r := rv.Notes.mine; r != nil && r.condition == c {
			m.touchMember()
			m.touchRole(rv)
		}
	}
}

// conditionsEnd is when the first term that terms of ours belong to ceases to be trusted.
func (m *Machine) conditionsEnd(ahead func(record.Instant)) {
	for _, c := range m.conditions {
		if c.term != 0 {
			ahead(c.until)
		}
	}
}

// waitsFor is what others are told that we wait for, "" while we wait for nothing.
func (r *role) waitsFor() string {
	if r.condition.lasts() {
		return ""
	}
	return r.condition.name
}

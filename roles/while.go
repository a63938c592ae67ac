package roles

import (
	"errors"
	"fmt"

	"github.com/rolemanager/rolemanager/election"
)

// Condition is that this process leads a role, for [Role].While. Its zero value stands for none.
type Condition struct {
	manager *Manager
	role    string
}

// While is the condition that this process leads a role of m. m is often another Manager than that
// of the role with the condition, with a bucket of its own: "local" is led once in each data
// centre, and "global" by one of the processes that lead "local".
//
//	global.Add(roles.Role{Name: "global", While: roles.While(dc, "local"), Lead: lead})
//
// The role with the condition is claimed only while m leads the other one. Its term ends with the
// term of the other one (election.ErrConditionEnded), and is valid only while both are trusted, so
// until the earlier of both deadlines. The work of both then drains at the same time.
//
// New and Add find the role in m, so it was added there before; they return [ErrUnknownRole]
// otherwise. So no two roles can wait for each other. A role that was removed from m is led no
// more: then remove the role with the condition too, and add both.
func While(m *Manager, role string) Condition { return Condition{m, role} }

// election is this process's part in the role of the condition, nil for no condition.
func (c Condition) election(of string) (*election.Election, error) {
	switch {
	case c == Condition{}:
		return nil, nil
	case c.manager == nil:
		return nil, &ConfigError{"While", fmt.Sprintf("role %q depends on a role of no Manager: give While one", of)}
	}
	if e, ok := c.manager.Election(c.role); ok {
		return e, nil
	}
	return nil, fmt.Errorf("%w: role %q depends on %q, which is not there: add that one before, by itself",
		ErrUnknownRole, of, c.role)
}

// conditionsOf is what each of the roles depends on.
func conditionsOf(roles []Role) ([]*election.Election, error) {
	all, faults := make([]*election.Election, len(roles)), []error(nil)
	for i, r := range roles {
		var err error
		if all[i], err = r.While.election(r.Name); err != nil {
			faults = append(faults, err)
		}
	}
	return all, errors.Join(faults...)
}

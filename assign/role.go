package assign

import (
	"context"

	"github.com/rolemanager/rolemanager/election"
)

// Role returns the role whose leader hands out the tasks, as Config names it, and the Lead that
// does so. Both go into a roles.Role or an election.RoleConfig, so that the name is written once:
//
//	name, lead := a.Role()
//	err := m.Add(roles.Role{Name: name, Lead: lead})
func (a *Assigner) Role() (name string, lead func(context.Context, *election.Term) error) {
	return a.cfg.Role, a.Lead
}

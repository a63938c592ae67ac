package assign

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
)

// Role returns the role whose leader hands out the tasks, as Config names it, and the Lead that
// does so. Both go into a roles.Role or an election.RoleConfig, so that the name is written once:
//
//	name, lead := a.Role()
//	err := m.Add(roles.Role{Name: name, Lead: lead})
func (a *Assigner) Role() (name string, lead func(context.Context, *election.Term) error) {
	return a.cfg.Role, a.Lead
}

// leads refuses the term of another role: the workers would not believe its frames.
func (a *Assigner) leads(t *election.Term) error {
	if t.Role() == a.cfg.Role {
		return nil
	}
	return fmt.Errorf("%w: the term is of role %q, and Config.Role is %q: use the name and the Lead that Assigner.Role returns",
		ErrOtherRole, t.Role(), a.cfg.Role)
}

// awaitLeaders waits for the end of a lease. Meanwhile it reports when nobody hands out the tasks,
// once for each reason.
func (a *Assigner) awaitLeaders(ctx context.Context, h lease) {
	patience := h.Config().TTL / 2
	look := time.NewTicker(patience)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		reason := a.unscheduled(h, patience)
		if reason != "" && reason != a.missing {
			h.Emit(event.SchedulerMissing{Meta: h.Meta(), Namespace: a.cfg.Namespace, Role: a.cfg.Role, Reason: reason})
		}
		a.missing = reason
	}
}

// unscheduled is why nobody has handed out the tasks for the time of patience, "" while somebody
// does.
func (a *Assigner) unscheduled(h lease, patience time.Duration) string {
	role, known := h.Role(a.cfg.Role)
	takesPart := func(m election.MemberInfo) bool { return slices.Contains(m.Roles, a.cfg.Role) }
	switch {
	case known && role.Since < patience:
		return ""
	case role.Leader == "" && !h.Config().WorkerOnly && !slices.ContainsFunc(h.Members(), takesPart):
		return event.SchedulerNoCandidate
	case role.Leader == "":
		return event.SchedulerNoLeader
	case role.Session == h.Session() && !a.led.Load():
		return event.SchedulerOtherLead
	}
	return ""
}

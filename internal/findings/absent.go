package findings

import (
	"fmt"
	"slices"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// Why a member would not lead, as it says itself.
const (
	saysPaused    = "paused"
	saysCooling   = "cooling down"
	SaysUnhealthy = "unhealthy"
)

// WhyAbsent says in words why a member that takes part in a role would not lead it.
func WhyAbsent(info *election.RoleInfo, instance string) string {
	i := slices.IndexFunc(info.Absent, func(a election.Absent) bool { return a.Instance == instance })
	switch {
	case i >= 0 && info.Absent[i].Why != "":
		return info.Absent[i].Why
	case info.Paused != nil:
		return SteeredText(info.Paused)
	}
	return "paused, unhealthy or cooling down: it does not say which"
}

// Absences lists the members that take part in a role and would not lead it, and why.
func Absences(info *election.RoleInfo) string {
	all := make([]string, 0, len(info.Absent))
	for _, a := range info.Absent {
		all = append(all, fmt.Sprintf("%s (%s)", a.Instance, WhyAbsent(info, a.Instance)))
	}
	return wording.FirstFew(all)
}

// Absence is a role that a member takes part in and would not lead, and why.
type Absence struct {
	Role string `json:"role"`
	Why  string `json:"why"`
}

// backIn is what has a role led again that only members take part in which would not lead it.
func backIn(info *election.RoleInfo) string {
	of := func(why string) string {
		for _, a := range info.Absent {
			if a.Why == why {
				return a.Instance
			}
		}
		return ""
	}
	if a := of(saysPaused); a != "" {
		return fmt.Sprintf("rolectl resume %s %s", info.Role, a)
	}
	if a := of(saysCooling); a != "" {
		return fmt.Sprintf("%s contends again by itself; see in its log why it does not lead, and then, not to wait: "+
			"rolectl resume %s %[1]s", a, info.Role)
	}
	if a := of(SaysUnhealthy); a != "" {
		return "find out why " + a + " says that it is unhealthy: see its log"
	}
	return "see the log of " + info.Absent[0].Instance
}

// Paused reports which members are kept from which roles by "rolectl pause".
func (l *List) Paused(roles []RoleFacts) {
	var all []string
	for i := range roles {
		for _, a := range roles[i].Info.Absent {
			if a.Why == saysPaused {
				all = append(all, a.Instance+" for "+roles[i].Info.Role)
			}
		}
	}
	if len(all) > 0 {
		l.OK("steering", "paused until it is resumed or restarted: %s; rolectl resume ROLE INSTANCE takes that back",
			wording.FirstFew(all))
	}
}

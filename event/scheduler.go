package event

// SchedulerMissing reports that the tasks of a namespace wait because no process hands them out. It
// comes once for each reason, and again if tasks were handed out meanwhile.
type SchedulerMissing struct {
	Meta
	Namespace string
	// Role is the role whose leader hands out the tasks.
	Role string
	// Reason is [SchedulerNoCandidate], [SchedulerNoLeader] or [SchedulerOtherLead].
	Reason string
}

// Reasons of a [SchedulerMissing].
const (
	// SchedulerNoCandidate says that no process takes part in the role.
	SchedulerNoCandidate = "no_candidate"
	// SchedulerNoLeader says that processes take part in the role but none leads it, as far as this
	// process can see.
	SchedulerNoLeader = "no_leader"
	// SchedulerOtherLead says that this process leads the role, with a Lead that does not hand out
	// the tasks.
	SchedulerOtherLead = "other_lead"
)

func (SchedulerMissing) event() {}

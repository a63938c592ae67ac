package event

// SchedulerMissing reports that the tasks of a namespace wait because nobody hands them out. It comes once for each reason,
// and again when somebody has handed them out meanwhile.
type SchedulerMissing struct {
	Meta
	Namespace string
	// Role is the role whose leader has to hand the tasks out.
	Role string
	// Reason is [SchedulerNoCandidate], [SchedulerNoLeader] or [SchedulerOtherLead].
	Reason string
}

// Reasons of a [SchedulerMissing].
const (
	// SchedulerNoCandidate says that no process takes part in the role.
	SchedulerNoCandidate = "no_candidate"
	// SchedulerNoLeader says that processes take part in the role, as far as this one can see, and none leads it.
	SchedulerNoLeader = "no_leader"
	// SchedulerOtherLead says that this process leads the role, with a Lead that does not hand out the tasks.
	SchedulerOtherLead = "other_lead"
)

func (SchedulerMissing) event() {}

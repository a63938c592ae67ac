package event

import "time"

// RolePromoted reports that this process leads the role.
type RolePromoted struct {
	Meta
	Role string
	// Epoch is the fencing epoch of the term.
	Epoch uint64
	// Priority is this candidate's priority for the role.
	Priority int
	// Gap is the time from the last sign of the former leader to the promotion, as this process has
	// seen it: its last beat, or its giving up the role. 0 if this process has seen no former
	// leader.
	Gap time.Duration
}

// RoleDemoted reports that this process has stopped believing that it leads the role. The work may
// still be returning: see [RoleDrained].
type RoleDemoted struct {
	Meta
	Role  string
	Epoch uint64
	// Reason is a short word of a bounded set, fit for a label.
	Reason string
	// Cause is why the context of the work ended, nil where Reason says everything.
	Cause error
	// Led is how long the term has lasted.
	Led time.Duration
}

// RoleDrained reports that the work and the callbacks of an ended term have returned. The role may
// be given away only after this.
type RoleDrained struct {
	Meta
	Role  string
	Epoch uint64
	// Took is the time from the end of the term until the last of them returned.
	Took time.Duration
}

// RoleRotated reports that the leader has taken a new epoch and a fresh token within an
// uninterrupted term.
type RoleRotated struct {
	Meta
	Role string
	// Epoch is the new one.
	Epoch uint64
}

// RoleJoined reports that this process takes part in the role from now on.
type RoleJoined struct {
	Meta
	Role string
	// Leader is the instance that leads, as far as this process has seen, "" for none.
	Leader string
	// Epoch is the epoch of its term, 0 without a leader.
	Epoch uint64
}

// RoleLeft reports that this process has left the role, by its own wish: the work of its last term
// has returned, and the role was given away or left to the end of the session. A session that
// closes reports [SessionClosed] only.
type RoleLeft struct {
	Meta
	Role string
}

// CandidatesChanged reports how many members would lead the role, this process and the leader
// included, as seen by this process.
type CandidatesChanged struct {
	Meta
	Role       string
	Candidates int
}

// LeaderChanged reports who leads the role, as seen by this process.
type LeaderChanged struct {
	Meta
	Role string
	// Leader is the instance that leads, "" for none.
	Leader string
	// Epoch is the epoch of its term, 0 without a leader.
	Epoch uint64
}

// RoleVacant reports that the record of the role has come to say that nobody holds it: the leader
// has given it up, somebody has evicted the leader, or the record was removed.
//
// When the session of a leader has ended, the record continues to name it until the next claim.
// Then [LeaderChanged] tells without a leader, and RoleVacant follows only if nobody claims the
// role for the longest TTL of the bucket and a member gives it up.
type RoleVacant struct {
	Meta
	Role string
	// By is the instance that has held the role, "" if that is not known.
	By string
	// Reason is why the role is vacant, as the record says; "session ended" for one that a member has
	// given up for a leader whose session had ended.
	Reason string
	// Epoch is that of the term that ended so, the last one if it was rotated; 0 if this process has
	// not seen that term.
	Epoch uint64
}

// RoleStuck reports that the work of an ended term has not returned within the drain timeout. The
// role stays held, so that no successor runs beside that work, unless the role is configured with
// VacateUndrained.
type RoleStuck struct {
	Meta
	Role  string
	Epoch uint64
	// Since is how long ago the term ended.
	Since time.Duration
}

func (RolePromoted) event()      {}
func (RoleDemoted) event()       {}
func (RoleDrained) event()       {}
func (RoleRotated) event()       {}
func (RoleJoined) event()        {}
func (RoleLeft) event()          {}
func (CandidatesChanged) event() {}
func (LeaderChanged) event()     {}
func (RoleVacant) event()        {}
func (RoleStuck) event()         {}

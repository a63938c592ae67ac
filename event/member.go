package event

// MemberJoined reports a session of a member, this process included, that was not there before.
type MemberJoined struct {
	Meta
	// Member is the instance.
	Member string
	// MemberSession is the number of its session.
	MemberSession uint64
}

// MemberLeft reports that the session of a member is over.
type MemberLeft struct {
	Meta
	Member string
	// Reason is why: closed by itself, killed, or replaced by a later session.
	Reason string
}

// SessionKilled reports that this process has killed the session of a member whose lease ran out,
// or of an idle member that has not answered a scheduler of tasks. The kill proves that the session
// is over, and makes the session's roles claimable.
type SessionKilled struct {
	Meta
	// Victim is the instance.
	Victim string
	// VictimSession is the number of the session that was killed, 0 if no record holds the number.
	VictimSession uint64
}

func (MemberJoined) event()  {}
func (MemberLeft) event()    {}
func (SessionKilled) event() {}

package election

import (
	"encoding/json"
	"time"

	"github.com/rolemanager/rolemanager/internal/seconds"
)

// State is the state of a process in one role.
type State uint8

const (
	// StateInit: not started, or the session is not open yet.
	StateInit State = iota
	// StateCandidate: nobody leads, and this process contends.
	StateCandidate
	// StateLeader: this process leads.
	StateLeader
	// StateFollower: another process leads.
	StateFollower
	// StateDemoted: a term of this process has ended; its work still drains, or the role is being
	// given away.
	StateDemoted
	// StateStopped: this process has stopped taking part.
	StateStopped
)

var stateNames = [...]string{"INIT", "CANDIDATE", "LEADER", "FOLLOWER", "DEMOTED", "STOPPED"}

func (s State) String() string { return stateNames[s] }

// MarshalText writes the state as its name.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Status is one role as this process sees it. Times are of this process's clock; they promise
// nothing about other processes.
type Status struct {
	Role     string `json:"role"`
	State    State  `json:"state"`
	IsLeader bool   `json:"is_leader"`
	LeaderID string `json:"leader,omitempty"`
	// Successor is the instance that would lead next if the present leader went away now. It is "" for
	// a role with Spread: the loads of that moment decide then.
	Successor string `json:"successor,omitempty"`
	// Reason says why the last term ended, or why this process is not eligible.
	Reason string `json:"reason,omitempty"`
	// Stuck says that work of an ended term has not returned within DrainTimeout.
	Stuck    bool   `json:"stuck,omitempty"`
	Epoch    uint64 `json:"epoch,omitempty"`
	Revision uint64 `json:"revision,omitempty"`
	Priority int    `json:"priority"`
	// LastHeartbeat is when this process's own lease was last renewed.
	LastHeartbeat  time.Time   `json:"last_heartbeat,omitzero"`
	LastTransition time.Time   `json:"last_transition,omitzero"`
	Candidates     []Candidate `json:"candidates,omitempty"`
}

// Candidate is a member that would take a role, in the order of succession.
type Candidate struct {
	Instance string `json:"instance"`
	Session  uint64 `json:"session"`
	Priority int    `json:"priority"`
	Takeover bool   `json:"takeover,omitempty"`
	// Zone is where it is, "" if it does not say. Tier is where that comes in the Zones of the role:
	// the higher, the sooner; 0 is any other zone, -1 one that is drained.
	Zone string `json:"zone,omitempty"`
	Tier int    `json:"tier,omitempty"`
}

// Leadership is what a process sees of the leader of a role. It promises nothing: a leader whose
// heartbeats do not arrive may still work, until its own deadline.
type Leadership string

const (
	// RoleLeading: a session holds the role, and a heartbeat of it was seen within its TTL.
	RoleLeading Leadership = "leading"
	// RoleSilent: a session holds the role, and no heartbeat of it was seen within its TTL. A
	// candidate that sees this too ends the session and claims the role.
	RoleSilent Leadership = "silent"
	// RoleDead: the session that holds the role has ended, and nobody has claimed the role yet.
	RoleDead Leadership = "dead"
	// RoleVacant: no session holds the role.
	RoleVacant Leadership = "vacant"
	// RoleUnreadable: the record of the role cannot be read.
	RoleUnreadable Leadership = "unreadable"
)

// Steered is what an operator has told all processes about a zone or a role, and nobody has taken
// back. Times are by the clock of the operator.
type Steered struct {
	// Zone is the zone that is drained, or Role the role that is paused for all. The other one is "".
	Zone string `json:"zone,omitempty"`
	Role string `json:"role,omitempty"`
	// Hard says that nobody leads in the zone, even what nobody elsewhere can lead.
	Hard   bool      `json:"hard,omitempty"`
	By     string    `json:"by,omitempty"`
	Reason string    `json:"reason,omitempty"`
	Since  time.Time `json:"since"`
	// Until is when the server ends it, up to a minute late; zero for when it is taken back.
	Until time.Time `json:"until,omitzero"`
}

// RoleInfo is a role as its record in the bucket shows it.
type RoleInfo struct {
	Role string `json:"role"`
	// State says whether the role is led. Only RoleLeading means that it is.
	State Leadership `json:"state"`
	// LastSeen is how long ago the last sign of the leader was seen or, while the role is dead or
	// vacant, of the former leader: a heartbeat, or its giving up the role. While the role is dead
	// and no sign was seen, the end of the session counts: the last sign was not later. An Observer
	// counts from when the server stored the sign. 0 when none was seen.
	LastSeen time.Duration `json:"-"`
	// Leader is the instance that holds the role in a session that is not known to be dead, "" for
	// none. See State for whether it leads.
	Leader   string `json:"leader,omitempty"`
	Session  uint64 `json:"session,omitempty"`
	Epoch    uint64 `json:"epoch,omitempty"`
	Revision uint64 `json:"revision,omitempty"`
	Priority int    `json:"priority,omitempty"`
	// PublicKey verifies what the leader signs.
	PublicKey string        `json:"public_key,omitempty"`
	TTL       time.Duration `json:"-"`
	// Vacant says that the record names no holder. By and Reason say who gave the role up, and why.
	// Next is the instance that the role was handed to, if any.
	Vacant bool   `json:"vacant,omitempty"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	Next   string `json:"next,omitempty"`
	// Unreadable says that the record of the role cannot be read.
	Unreadable bool `json:"unreadable,omitempty"`
	// Paused is who has paused the role for all, and why; nil while nobody has. A role that is paused
	// has no candidates.
	Paused *Steered `json:"paused,omitempty"`
	// Since is for how long this process has seen it so. An Observer counts from when the server
	// stored the record. While the role is dead, the end of the session counts, not the claim.
	Since time.Duration `json:"-"`
	// Spread says that a candidate spreads the role. Successor is then "": the loads decide who leads
	// next, and not the order of the Candidates.
	Spread     bool        `json:"spread,omitempty"`
	Successor  string      `json:"successor,omitempty"`
	Candidates []Candidate `json:"candidates,omitempty"`
	// Waiting are the members that would be candidates if they led another role, by name.
	Waiting []Waiting `json:"waiting,omitempty"`
	// Absent are the other members that take part and would not lead now, by name.
	Absent []Absent `json:"absent,omitempty"`
}

// Absent is a member that takes part in a role and would not lead it now.
type Absent struct {
	Instance string `json:"instance"`
	Priority int    `json:"priority"`
	// Why is "paused", "cooling down", "unhealthy", "its work does not return" or "its zone is
	// drained". "" means that the member does not say: one of an earlier version never does, and
	// Paused stands for all.
	Why string `json:"why,omitempty"`
}

// Waiting is a member that takes part in a role and waits to lead another one (RoleConfig.While).
type Waiting struct {
	Instance string `json:"instance"`
	// For is the other role; "local@dc1" is role local in bucket dc1.
	For string `json:"for"`
}

// Workplace is what a member offers in one namespace of tasks.
type Workplace struct {
	Slots  int               `json:"slots"`
	Kinds  []string          `json:"kinds,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	// Build tells apart programs that decode inputs differently, "" for one that does not say.
	Build string `json:"build,omitempty"`
	// Alone says that it takes a task that must run alone only when nothing else runs there. Workers
	// of earlier versions do not say so.
	Alone bool `json:"alone,omitempty"`
	// Beside says that handlers of an earlier session of the process ran there when this one came.
	Beside bool `json:"beside,omitempty"`
}

// MemberInfo is a member, as its records in the bucket show it, with a session that is not known to
// be dead.
type MemberInfo struct {
	Instance   string        `json:"instance"`
	Session    uint64        `json:"session"`
	WorkerOnly bool          `json:"worker_only,omitempty"`
	Idle       bool          `json:"idle,omitempty"`
	Draining   bool          `json:"draining,omitempty"`
	TTL        time.Duration `json:"-"`
	// LastSeen is how long ago this process saw a heartbeat of the member. A process that leads
	// nothing is not sent the heartbeats of idle members: of these it knows only since when they are
	// idle.
	LastSeen time.Duration `json:"-"`
	Roles    []string      `json:"roles,omitempty"`
	// Zone is where it is, "" if it does not say. Drained is who has drained that zone, and why; nil
	// while nobody has.
	Zone    string               `json:"zone,omitempty"`
	Drained *Steered             `json:"drained,omitempty"`
	Meta    map[string]string    `json:"meta,omitempty"`
	Assign  map[string]Workplace `json:"assign,omitempty"`
	// Described says that its member record has been seen, and so Roles, Zone, Meta and Assign mean
	// something.
	Described bool `json:"described"`
}

// SpreadInfo is how the spread roles of one group are led, and what moves by itself to make that
// even. It is a plan made from what this process sees, and the members make their own.
type SpreadInfo struct {
	Group   string         `json:"group"`
	Members []SpreadMember `json:"members"`
	// Moves are the roles that their leaders give away in the end, in the order of their age.
	Moves []SpreadMove `json:"moves"`
	// Unplaced are the roles that only members could take which lead as many as they may.
	Unplaced []string `json:"unplaced,omitempty"`
}

// SpreadMember is one member of a group.
type SpreadMember struct {
	Instance string `json:"instance"`
	// Leads is how many roles of the group the member leads, and Pinned how many of these never move.
	Leads  int `json:"leads"`
	Pinned int `json:"pinned,omitempty"`
	// Beside is how many roles it leads of other groups.
	Beside int `json:"beside,omitempty"`
	// Seats is how many of the group it leads in the end.
	Seats    int `json:"seats"`
	Capacity int `json:"capacity"`
	MaxRoles int `json:"max_roles,omitempty"`
}

// SpreadMove is a role that is to have another leader.
type SpreadMove struct {
	Role string `json:"role"`
	From string `json:"from"`
	To   string `json:"to"`
}

// The types without methods, whose fields are encoded beside those in seconds.
type (
	plainRole   RoleInfo
	plainMember MemberInfo
)

// MarshalJSON writes the durations as the numbers last_seen_seconds, ttl_seconds and since_seconds.
func (r RoleInfo) MarshalJSON() ([]byte, error) { return json.Marshal(r.shape()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (r *RoleInfo) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, r.shape()) }

func (r *RoleInfo) shape() any {
	return &struct {
		*plainRole
		LastSeen *seconds.Duration `json:"last_seen_seconds,omitzero"`
		TTL      *seconds.Duration `json:"ttl_seconds,omitzero"`
		Since    *seconds.Duration `json:"since_seconds"`
	}{
		(*plainRole)(r), (*seconds.Duration)(&r.LastSeen), (*seconds.Duration)(&r.TTL),
		(*seconds.Duration)(&r.Since),
	}
}

// MarshalJSON writes the durations as the numbers ttl_seconds and last_seen_seconds.
func (m MemberInfo) MarshalJSON() ([]byte, error) { return json.Marshal(m.shape()) }

// UnmarshalJSON reads what MarshalJSON writes.
func (m *MemberInfo) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, m.shape()) }

func (m *MemberInfo) shape() any {
	return &struct {
		*plainMember
		TTL      *seconds.Duration `json:"ttl_seconds"`
		LastSeen *seconds.Duration `json:"last_seen_seconds"`
	}{(*plainMember)(m), (*seconds.Duration)(&m.TTL), (*seconds.Duration)(&m.LastSeen)}
}

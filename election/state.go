package election

import "time"

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
	// Successor is the instance that would lead next if the present leader went away now.
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
}

// RoleInfo is a role as its record in the bucket shows it.
type RoleInfo struct {
	Role string `json:"role"`
	// Leader is the instance that holds the role in a session that is not known to be dead, "" for
	// none.
	Leader   string `json:"leader,omitempty"`
	Session  uint64 `json:"session,omitempty"`
	Epoch    uint64 `json:"epoch,omitempty"`
	Revision uint64 `json:"revision,omitempty"`
	Priority int    `json:"priority,omitempty"`
	// PublicKey verifies what the leader signs.
	PublicKey string        `json:"public_key,omitempty"`
	TTL       time.Duration `json:"ttl,omitempty"`
	// Vacant says that the record says so, By and Reason by whom and why; Next is the hinted
	// successor.
	Vacant bool   `json:"vacant,omitempty"`
	By     string `json:"by,omitempty"`
	Reason string `json:"reason,omitempty"`
	Next   string `json:"next,omitempty"`
	// Unreadable says that the record of the role cannot be read.
	Unreadable bool `json:"unreadable,omitempty"`
	// Since is for how long this process has seen it so.
	Since      time.Duration `json:"since"`
	Successor  string        `json:"successor,omitempty"`
	Candidates []Candidate   `json:"candidates,omitempty"`
}

// Workplace is what a member offers in one namespace of tasks.
type Workplace struct {
	Slots  int               `json:"slots"`
	Kinds  []string          `json:"kinds,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

// MemberInfo is a member, as its records in the bucket show it, with a session that is not known to
// be dead.
type MemberInfo struct {
	Instance   string        `json:"instance"`
	Session    uint64        `json:"session"`
	WorkerOnly bool          `json:"worker_only,omitempty"`
	Idle       bool          `json:"idle,omitempty"`
	Draining   bool          `json:"draining,omitempty"`
	TTL        time.Duration `json:"ttl"`
	// LastSeen is how long ago this process saw its lease move.
	LastSeen time.Duration        `json:"last_seen"`
	Roles    []string             `json:"roles,omitempty"`
	Meta     map[string]string    `json:"meta,omitempty"`
	Assign   map[string]Workplace `json:"assign,omitempty"`
	// Described says that its member record has been seen, and so Roles, Meta and Assign mean
	// something.
	Described bool `json:"described"`
}

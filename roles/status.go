package roles

import (
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/bridge"
)

// Status is the state of the manager and everything that the manager sees, at one moment. Durations
// are numbers of seconds in JSON. A Status holds nothing secret.
type Status struct {
	Instance string `json:"instance"`
	Bucket   string `json:"bucket"`
	// Session is the number of the open session, 0 while there is none.
	Session uint64 `json:"session"`
	// Connection is the state of the connection in the words of nats.go, such as CONNECTED or
	// RECONNECTING.
	Connection string `json:"connection"`
	// Ready is the answer of /readyz, and Reason says why the process is not ready.
	Ready  bool   `json:"ready"`
	Reason string `json:"reason,omitempty"`
	// HeartbeatAge is how long ago the lease was last renewed, HeartbeatRTT how long that renewal
	// took. Both are 0 before the first renewal.
	HeartbeatAge time.Duration `json:"-"`
	HeartbeatRTT time.Duration `json:"-"`
	// Leading are the roles that this process leads.
	Leading []string     `json:"leading"`
	Roles   []RoleStatus `json:"roles"`
	// Members are the members with a session that is not known to be dead, this process included.
	Members []election.MemberInfo `json:"members"`
	// Steered is which zones are drained and which roles are paused for all, and by whom.
	Steered []election.Steered `json:"steered,omitempty"`
}

// RoleStatus is one role of this process. Times are of this process's clock; they promise nothing
// about other processes.
type RoleStatus struct {
	Name string `json:"name"`
	// State is INIT, CANDIDATE, LEADER, FOLLOWER, DEMOTED or STOPPED; see election.State.
	State    string `json:"state"`
	LeaderID string `json:"leader,omitempty"`
	// Successor is the instance that would lead next if the present leader went away now. It is "" for
	// a role with Spread: the loads of that moment decide then.
	Successor string `json:"successor,omitempty"`
	// Reason says why the last term ended, or why this process would not lead.
	Reason   string `json:"reason,omitempty"`
	IsLeader bool   `json:"is_leader"`
	// Stuck says that the work of an ended term has not returned within DrainTimeout.
	Stuck    bool   `json:"stuck,omitempty"`
	Epoch    uint64 `json:"epoch,omitempty"`
	Revision uint64 `json:"revision,omitempty"`
	Priority int    `json:"priority"`
	// LastHeartbeat is when the lease was last renewed, LastTransition when a term of this process
	// last began or ended.
	LastHeartbeat  time.Time `json:"last_heartbeat,omitzero"`
	LastTransition time.Time `json:"last_transition,omitzero"`
	// Candidates are in the order of succession.
	Candidates []election.Candidate `json:"candidates,omitempty"`
}

// Status returns the present state. It sends no request.
func (m *Manager) Status() Status {
	st := Status{
		Instance: m.session.Instance(), Bucket: m.session.Bucket(), Session: bridge.Number(m.session),
		Connection: m.connectionStatus(), Leading: []string{}, Roles: m.roleStatuses(),
		Members: append([]election.MemberInfo{}, m.session.Members()...),
		Steered: m.session.Steered(),
	}
	if at, took := m.session.LastHeartbeat(); !at.IsZero() {
		st.HeartbeatAge, st.HeartbeatRTT = time.Since(at), took
	}
	for _, r := range st.Roles {
		if r.IsLeader {
			st.Leading = append(st.Leading, r.Name)
		}
	}
	st.Reason = m.unready(st.Roles)
	st.Ready = st.Reason == ""
	return st
}

func (m *Manager) roleStatuses() []RoleStatus {
	members := m.members()
	all := make([]RoleStatus, len(members))
	for i, mb := range members {
		all[i] = roleStatus(mb.election.Status())
	}
	return all
}

func roleStatus(st election.Status) RoleStatus {
	return RoleStatus{
		Name: st.Role, State: st.State.String(), LeaderID: st.LeaderID, Successor: st.Successor, Reason: st.Reason,
		IsLeader: st.IsLeader, Stuck: st.Stuck, Epoch: st.Epoch, Revision: st.Revision, Priority: st.Priority,
		LastHeartbeat: st.LastHeartbeat, LastTransition: st.LastTransition, Candidates: st.Candidates,
	}
}

// unready says why this process cannot take part, "" when it can. A follower is as ready as a
// leader. A process without a connection is ready until its lease has run out.
func (m *Manager) unready(roles []RoleStatus) string {
	m.mu.Lock()
	at := m.phase
	m.mu.Unlock()
	switch {
	case at == created:
		return "not running yet"
	case at == draining:
		return "shutting down"
	case at == ended:
		return "has ended"
	case bridge.Number(m.session) == 0:
		if why := bridge.Waits(m.session); why != "" {
			return "no session is open: " + why
		}
		return "no session is open (connection: " + m.connectionTrouble() + ")"
	case bridge.TrustedFor(m.session) <= 0:
		return "no heartbeat was acknowledged in time (connection: " + m.connectionTrouble() + ")"
	}
	var stuck []string
	for _, r := range roles {
		if r.Stuck {
			stuck = append(stuck, r.Name)
		}
	}
	if len(stuck) > 0 {
		return "stuck, the work has not returned after its term: " + strings.Join(stuck, ", ")
	}
	return ""
}

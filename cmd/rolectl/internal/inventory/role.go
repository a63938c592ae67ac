package inventory

import (
	"fmt"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/cli"
	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// InLine lists the instances that would take the role, the next one first.
func (d RoleState) InLine() []string {
	var names []string
	for _, c := range d.Candidates {
		if c.Instance != d.Leader {
			names = append(names, c.Instance)
		}
	}
	return names
}

// RoleState is a role in JSON documents.
type RoleState struct {
	Role             string              `json:"role"`
	State            election.Leadership `json:"state"`
	Leader           string              `json:"leader"` // "" for nobody
	Epoch            uint64              `json:"epoch,omitempty"`
	Session          uint64              `json:"session,omitempty"`
	AgeSeconds       float64             `json:"age_seconds"`                     // of the record; of its leader's end when dead
	HeartbeatSeconds float64             `json:"heartbeat_age_seconds,omitempty"` // since the last sign of the leader
	LastSeenSeconds  float64             `json:"last_seen_seconds,omitempty"`     // the same, or of the former leader
	TTLSeconds       float64             `json:"ttl_seconds,omitempty"`
	Priority         int                 `json:"priority"`

	Successor  string               `json:"successor"`
	Candidates []election.Candidate `json:"candidates"`
	Waiting    []election.Waiting   `json:"waiting,omitempty"` // to lead another role
	Absent     []election.Absent    `json:"absent,omitempty"`  // take part, and would not lead now

	Vacant     bool   `json:"vacant,omitempty"`
	By         string `json:"vacated_by,omitempty"`
	Reason     string `json:"reason,omitempty"`
	Next       string `json:"next,omitempty"`
	Unreadable bool   `json:"unreadable,omitempty"`

	Paused *election.Steered `json:"paused,omitempty"`

	findings.RoleFacts `json:"-"`
	Ended              time.Time `json:"-"` // when the session of the leader ended, by the server's clock; zero unless dead
}

// DescribeRole describes one role.
func (s *View) DescribeRole(info election.RoleInfo) RoleState {
	d := RoleState{
		Role: info.Role, State: info.State, Leader: info.Leader, Epoch: info.Epoch, Session: info.Session,
		TTLSeconds: show.Seconds(info.TTL),
		Priority:   info.Priority, Successor: info.Successor, Candidates: info.Candidates, Waiting: info.Waiting,
		Absent: info.Absent,
		Vacant: info.Vacant, By: info.By, Reason: info.Reason, Next: info.Next, Unreadable: info.Unreadable,
		Paused: info.Paused, RoleFacts: findings.FactsOf(info),
		LastSeenSeconds: show.Seconds(info.LastSeen),
	}
	if d.Candidates == nil {
		d.Candidates = []election.Candidate{}
	}
	if r, ok := s.Record(record.RoleKey(info.Role)); ok && r.Revision == info.Revision {
		d.Age, d.Newer = s.Age(r), r.Form == record.FormNewer
	}
	if info.State == election.RoleDead { // not since it was claimed
		d.Age, d.Ended = info.Since, s.Now().Add(-info.Since)
	}
	if d.HeartbeatAge >= 0 {
		d.HeartbeatSeconds = d.LastSeenSeconds
	}
	d.AgeSeconds = show.Seconds(d.Age)
	return d
}

// RolesFacts are the facts of all roles.
func (s *View) RolesFacts() []findings.RoleFacts {
	infos := s.Roles()
	all := make([]findings.RoleFacts, 0, len(infos))
	for _, info := range infos {
		all = append(all, s.DescribeRole(info).RoleFacts)
	}
	return all
}

// DescribeRoles describes all roles, or the named ones. It returns an error if a named role does
// not exist.
func (s *View) DescribeRoles(names ...string) ([]RoleState, error) {
	infos := s.Roles()
	if len(names) > 0 {
		for _, name := range names {
			if !slices.ContainsFunc(infos, func(i election.RoleInfo) bool { return i.Role == name }) {
				return nil, s.UnknownRole(name)
			}
		}
		infos = slices.DeleteFunc(infos, func(i election.RoleInfo) bool { return !slices.Contains(names, i.Role) })
	}
	docs := make([]RoleState, 0, len(infos))
	for _, info := range infos {
		docs = append(docs, s.DescribeRole(info))
	}
	return docs, nil
}

// UnknownRole is the error about a role that is not in the bucket.
func (s *View) UnknownRole(name string) error {
	var known []string
	for _, i := range s.Roles() {
		known = append(known, i.Role)
	}
	if len(known) == 0 {
		return cli.UsageError(fmt.Errorf("no role %q in bucket %s: the bucket has no roles yet", name, s.Observer.Bucket()))
	}
	return cli.UsageError(fmt.Errorf("no role %q in bucket %s; roles there: %s", name, s.Observer.Bucket(),
		wording.FirstFew(known)))
}

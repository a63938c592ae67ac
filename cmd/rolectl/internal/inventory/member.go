package inventory

import (
	"time"

	"github.com/rolemanager/rolemanager/cmd/rolectl/internal/show"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
)

// MemberState is a member in JSON documents.
type MemberState struct {
	Instance         string                        `json:"instance"`
	Session          uint64                        `json:"session"`
	State            string                        `json:"state"` // active, idle, draining, silent
	WorkerOnly       bool                          `json:"worker_only"`
	HeartbeatSeconds float64                       `json:"heartbeat_age_seconds"`
	TTLSeconds       float64                       `json:"ttl_seconds"`
	Leads            []string                      `json:"leads"`
	Roles            []string                      `json:"roles"`
	Absent           []findings.Absence            `json:"absent,omitempty"` // roles that it would not lead now
	Zone             string                        `json:"zone,omitempty"`
	Drained          *election.Steered             `json:"drained,omitempty"`
	Meta             map[string]string             `json:"meta,omitempty"`
	Assign           map[string]election.Workplace `json:"assign,omitempty"`
	Draining         bool                          `json:"draining"`
	Described        bool                          `json:"described"` // its member record was read, so roles and meta are known

	HeartbeatAge time.Duration `json:"-"`
	TTL          time.Duration `json:"-"`
}

// DescribeMembers describes all members.
func (s *View) DescribeMembers() []MemberState {
	all := s.MembersFacts()
	docs := make([]MemberState, 0, len(all))
	for i := range all {
		f := &all[i]
		m := &f.Info
		docs = append(docs, MemberState{
			Instance: m.Instance, Session: m.Session, State: f.State(), WorkerOnly: m.WorkerOnly,
			HeartbeatSeconds: show.Seconds(m.LastSeen), TTLSeconds: show.Seconds(m.TTL),
			Leads: orEmpty(f.Leads), Roles: orEmpty(m.Roles), Absent: f.Absent,
			Zone: m.Zone, Drained: m.Drained, Meta: m.Meta, Assign: m.Assign, Draining: m.Draining,
			Described: m.Described, HeartbeatAge: m.LastSeen, TTL: m.TTL,
		})
	}
	return docs
}

// MembersFacts are the facts of all members. The age of a heartbeat is that of its record, but for
// the beats of idle members, which a view without workers keeps no records of: the observer has
// seen them.
func (s *View) MembersFacts() []findings.MemberFacts {
	all := findings.FactsOfMembers(s.Members(), s.Roles())
	for i := range all {
		m := &all[i].Info
		class := record.Candidate
		if m.WorkerOnly {
			class = record.Worker
		}
		if beat, ok := s.lastBeat(record.Peer{Class: class, Instance: m.Instance}); ok && (s.beats || !m.Idle) {
			m.LastSeen = s.Age(beat)
		}
	}
	return all
}

// lastBeat is the last heartbeat of a member: its lease or, while that stands idle, the beat beside
// it.
func (s *View) lastBeat(p record.Peer) (last Record, ok bool) {
	last, ok = s.Record(record.LeaseKey(p))
	beside, idles := s.Record(record.IdleKey(p))
	if idles && beside.Form == record.FormRecord && beside.Idle.Lease == last.Revision && beside.Revision > last.Revision {
		return beside, true
	}
	return last, ok
}

func orEmpty(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

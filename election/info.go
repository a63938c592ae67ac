package election

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/protocol"
	"github.com/rolemanager/rolemanager/internal/protocol/record"
	"github.com/rolemanager/rolemanager/internal/protocol/spread"
	"github.com/rolemanager/rolemanager/internal/protocol/view"
	"github.com/rolemanager/rolemanager/internal/protocol/zone"
)

var leaderships = map[view.Leadership]Leadership{
	view.Vacant: RoleVacant, view.Leading: RoleLeading, view.Silent: RoleSilent, view.Dead: RoleDead,
	view.Unreadable: RoleUnreadable,
}

// roleInfo is what a view says about a role.
func roleInfo(v *protocol.View, r *protocol.RoleView, now record.Instant) RoleInfo {
	info := RoleInfo{
		Role: r.Name, State: leaderships[v.Leadership(now, r)], Leader: v.Leader(r), Revision: r.Revision,
		Since:      now.Sub(r.Seen),
		Unreadable: r.Form == record.FormGarbage || r.Form == record.FormNewer,
		Paused:     steeredOf(v, now, steeredRole, r.Name),
		Spread:     spreads(r), Successor: successor(v, r, now), Candidates: candidates(v, r, now), Waiting: waiting(r),
		Absent: absent(v, r),
	}
	dead, ended := v.DeadSince(r)
	if ended {
		info.Since = now.Sub(dead)
	}
	switch last, ok := v.LastSign(r); {
	case ok:
		info.LastSeen = max(now.Sub(last), 0)
	case ended:
		info.LastSeen = max(info.Since, 0)
	}
	if r.Form == record.FormRecord || r.Form == record.FormRemoved {
		info.TTL = r.Role.TTL()
		info.Vacant, info.By, info.Reason, info.Next = r.Role.Vacant, r.Role.By, r.Role.Reason, r.Role.Next
	}
	if info.Leader != "" {
		info.Session, info.Epoch, info.Priority, info.PublicKey = r.Role.Session, r.Revision, int(r.Role.Priority), r.Role.Key
	}
	return info
}

// spreads reports whether a candidate spreads r, eligible or not.
func spreads(r *protocol.RoleView) bool {
	return slices.ContainsFunc(r.Candidates, func(p *protocol.PeerView) bool {
		said, ok := p.Member.Candidacy(r.Name)
		return ok && said.Spread
	})
}

// successor is who would lead r next, "" if that is nobody, or the loads decide.
func successor(v *protocol.View, r *protocol.RoleView, now record.Instant) string {
	if spreads(r) {
		return ""
	}
	return v.Successor(now, r)
}

func candidates(v *protocol.View, r *protocol.RoleView, now record.Instant) []Candidate {
	line := v.Order(now, r)
	all := make([]Candidate, len(line))
	for i, c := range line {
		all[i] = Candidate{
			c.Instance, c.Session, int(zone.Priority(c.Tier, c.Priority)), c.Takeover, zoneOf(v, c.Instance), int(c.Tier),
		}
	}
	return all
}

// waiting are the members that take part in r, and do not lead the role that it depends on.
func waiting(r *protocol.RoleView) (all []Waiting) {
	for _, p := range r.Candidates {
		if said, ok := p.Member.Candidacy(r.Name); ok && said.Waits != "" && p.Belongs() {
			all = append(all, Waiting{p.Peer.Instance, said.Waits})
		}
	}
	slices.SortFunc(all, func(a, b Waiting) int { return strings.Compare(a.Instance, b.Instance) })
	return all
}

// absent are the members that take part in r, would not lead it, and do not wait for another role.
func absent(v *protocol.View, r *protocol.RoleView) (all []Absent) {
	for _, p := range r.Candidates {
		said, ok := p.Member.Candidacy(r.Name)
		if ok && !said.Eligible && said.Waits == "" && p.Belongs() && !p.Member.Draining {
			all = append(all, Absent{p.Peer.Instance, int(zone.Priority(said.Tier, said.Priority)), said.Out})
		}
	}
	slices.SortFunc(all, func(a, b Absent) int { return strings.Compare(a.Instance, b.Instance) })
	return all
}

// zoneOf is where a candidate is, as its member record says.
func zoneOf(v *protocol.View, instance string) string {
	if p := v.Peer(peer(instance, false)); p != nil && p.Member != nil {
		return p.Member.Zone
	}
	return ""
}

// roleInfos are the roles that have a record or a candidate, by name, and those that left when they
// were given up, as long as the marker of that is there.
func roleInfos(v *protocol.View, now record.Instant) []RoleInfo {
	var all []RoleInfo
	for _, r := range v.Roles() {
		if known(r) || leaving(v, r, now) || len(v.Order(now, r)) > 0 || len(waiting(r)) > 0 {
			all = append(all, roleInfo(v, r, now))
		}
	}
	slices.SortFunc(all, func(a, b RoleInfo) int { return strings.Compare(a.Role, b.Role) })
	return all
}

// known reports whether something stands in the bucket that tells of r, but for its removal.
func known(r *protocol.RoleView) bool {
	return r.Revision != 0 && r.Form != record.FormRemoved && r.Form != record.FormNone
}

// leaving reports whether r left the bucket when its leader gave it up, since nobody wanted it and
// many roles were vacant, and the marker of that is still there.
func leaving(v *protocol.View, r *protocol.RoleView, now record.Instant) bool {
	left, removed := v.MarkerLeaves(r)
	return removed && now < left && r.Role.By != ""
}

// memberInfos are the members whose session is not known to be dead, by class and name.
func memberInfos(v *protocol.View, now record.Instant) []MemberInfo {
	var all []MemberInfo
	for _, p := range v.Peers() {
		if p.Form == record.FormRecord && p.Lease.Alive() {
			all = append(all, memberInfo(v, p, now))
		}
	}
	slices.SortFunc(all, func(a, b MemberInfo) int { return strings.Compare(a.Instance, b.Instance) })
	return all
}

func memberInfo(v *protocol.View, p *protocol.PeerView, now record.Instant) MemberInfo {
	_, ttl, _ := v.Still(p)
	info := MemberInfo{
		Instance: p.Peer.Instance, Session: p.Session(), WorkerOnly: p.Peer.Class == record.Worker,
		Idle: p.Lease.State == record.Idle, TTL: ttl, LastSeen: now.Sub(v.Sign(p)), Described: p.Belongs(),
	}
	if !info.Described {
		return info
	}
	info.Draining, info.Meta, info.Zone = p.Member.Draining, p.Member.Meta, p.Member.Zone
	info.Drained = steeredOf(v, now, steeredZone, info.Zone)
	for _, said := range p.Member.Roles {
		info.Roles = append(info.Roles, said.Role)
	}
	if len(p.Member.Assign) > 0 {
		info.Assign = make(map[string]Workplace, len(p.Member.Assign))
		for ns, w := range p.Member.Assign {
			info.Assign[ns] = Workplace(w)
		}
	}
	return info
}

// spreadInfos are the groups whose roles are spread, by name.
func spreadInfos(v *protocol.View, now record.Instant) []SpreadInfo {
	groups := map[string]bool{}
	for _, p := range v.Peers() {
		if p.Belongs() {
			for _, said := range p.Member.Roles {
				groups[said.Group] = groups[said.Group] || said.Spread
			}
		}
	}
	var all []SpreadInfo
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if groups[name] {
			all = append(all, spreadInfo(v, now, name))
		}
	}
	return all
}

func spreadInfo(v *protocol.View, now record.Instant, group string) SpreadInfo {
	p := spread.Of(v, now, group, nil)
	plan := spread.Make(&p.Group)
	info := SpreadInfo{Group: group, Moves: []SpreadMove{}}
	for i, m := range p.Members {
		info.Members = append(info.Members, SpreadMember{
			Instance: m.Name, Leads: m.Pinned, Pinned: m.Pinned, Beside: m.Beside, Seats: plan.Loads[i], Capacity: m.Weight,
			MaxRoles: m.Cap,
		})
	}
	for _, r := range p.Roles {
		if r.At != spread.Nobody {
			info.Members[r.At].Leads++
		}
	}
	for _, m := range plan.Moves {
		info.Moves = append(info.Moves, SpreadMove{p.Roles[m.Role].Name, p.Members[m.From].Name, p.Members[m.To].Name})
	}
	for _, r := range plan.Unplaced() {
		info.Unplaced = append(info.Unplaced, p.Roles[r].Name)
	}
	slices.Sort(info.Unplaced)
	info.Members = slices.DeleteFunc(info.Members, func(m SpreadMember) bool {
		return m.Leads+m.Seats == 0 && !takesPart(v, m, group)
	})
	slices.SortFunc(info.Members, func(a, b SpreadMember) int { return strings.Compare(a.Instance, b.Instance) })
	return info
}

// takesPart reports whether a member takes part in a role of a group.
func takesPart(v *protocol.View, m SpreadMember, group string) bool {
	for _, said := range v.Peer(peer(m.Instance, false)).Member.Roles {
		if said.Spread && said.Group == group {
			return true
		}
	}
	return false
}

// Spread is how the roles are led that are spread, by group; nil before Open.
func (s *Session) Spread() (all []SpreadInfo) {
	s.query(func(m *protocol.Machine, now record.Now) { all = spreadInfos(m.View(), now.Observer) })
	return all
}

// Roles are the roles of the bucket as this session sees them, by name; nil before Open.
func (s *Session) Roles() (all []RoleInfo) {
	s.query(func(m *protocol.Machine, now record.Now) { all = roleInfos(m.View(), now.Observer) })
	return all
}

// Role returns one role of the bucket, and whether the bucket knows it.
func (s *Session) Role(name string) (info RoleInfo, ok bool) {
	s.query(func(m *protocol.Machine, now record.Now) {
		if r := m.View().Role(name); r != nil {
			info, ok = roleInfo(m.View(), r, now.Observer), true
		}
	})
	return info, ok
}

// Members are the members whose session is not known to be dead, by name; worker-only ones only
// while something of this session watches them.
func (s *Session) Members() (all []MemberInfo) {
	s.query(func(m *protocol.Machine, now record.Now) { all = memberInfos(m.View(), now.Observer) })
	return all
}

// status is where this process stands in a role.
func (s *Session) status(e *Election) Status {
	st := Status{
		Role: e.cfg.Role, Priority: e.cfg.Priority, State: StateInit, IsLeader: e.IsLeader(),
		LeaderID: e.LeaderID(),
	}
	st.LastHeartbeat, _ = s.LastHeartbeat()
	if last := e.last.Load(); last != nil {
		st.LastTransition, st.Reason = last.at, last.reason
	}
	s.query(func(m *protocol.Machine, now record.Now) {
		own := m.Status(e.cfg.Role)
		if r := m.View().Role(e.cfg.Role); r != nil {
			if r.Form == record.FormNewer {
				st.Reason = "the role's record was written by a later version"
			}
			st.Revision, st.Successor = r.Revision, successor(m.View(), r, now.Observer)
			if e.cfg.Spread { // before our own record is seen, too
				st.Successor = ""
			}
			st.Candidates = candidates(m.View(), r, now.Observer)
			if st.LeaderID != "" {
				st.Epoch = r.Revision
			}
		}
		st.Stuck = own.Stuck
		st.State = state(own, st.LeaderID)
		if reason := ineligible(own); reason != "" {
			st.Reason = reason
		} else if wait := s.waitsForAbsent(m, now, e.cfg.Role); wait != nil {
			st.Reason = strings.TrimPrefix(wait.Error(), "election: ")
		} else if wait, _ := s.waitsForLease(m, now); wait != nil {
			st.Reason = strings.TrimPrefix(wait.Error(), "election: ")
		}
	})
	if e.ended() {
		st.State, st.IsLeader = StateStopped, false
	}
	return st
}

func state(own protocol.RoleStatus, leader string) State {
	switch {
	case !own.Open && !own.Ending:
		return StateInit
	case own.Leading:
		return StateLeader
	case own.Ending:
		return StateDemoted
	case !own.Known:
		return StateStopped
	case leader != "":
		return StateFollower
	}
	return StateCandidate
}

// ineligible says why this process would not lead, "" when it would.
func ineligible(own protocol.RoleStatus) string {
	switch {
	case own.Ending && own.Stuck:
		return "stuck: " + own.Cause.String()
	case own.Outside:
		return "outside the zones of the role"
	case own.Barred != 0:
		return own.Barred.String()
	case own.WaitsFor != "" && !own.Leading:
		return "waits for " + own.WaitsFor
	case own.Paused:
		return "paused"
	case own.Unhealthy:
		return "unhealthy"
	case own.Cooling && !own.Leading:
		return "cooling down"
	}
	return ""
}

// trustedFor is how much longer the session is trusted if nothing more is heard; negative when it
// is over. A session that holds no role is trusted by its acknowledged heartbeats alone.
func (s *Session) trustedFor() time.Duration { return s.present.Load().left() }

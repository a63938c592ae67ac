package dashboard

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
)

// roleData is the screen of one role.
type roleData struct {
	Bucket string              `json:"bucket"`
	Role   string              `json:"role"`
	State  election.Leadership `json:"state"`
	Led    bool                `json:"led"`
	Leader string              `json:"leader"`
	Epoch  uint64              `json:"epoch,omitempty"`
	Since  time.Time           `json:"since"`
	TTL    float64             `json:"ttl_seconds,omitempty"`
	Why    string              `json:"why,omitempty"`
	By     string              `json:"vacated_by,omitempty"`
	Next   string              `json:"next,omitempty"`
	Late   bool                `json:"heartbeat_late,omitempty"`
	// Paused is who has paused it for all, nil for nobody.
	Paused *election.Steered `json:"paused,omitempty"`
	// Watched is since when the page has watched: of terms before that only the last is known.
	Watched time.Time   `json:"watched"`
	Terms   []term      `json:"terms"` // the newest first
	Line    []place     `json:"line"`
	Events  []happening `json:"events"`
}

// place is the part of an instance in one role.
type place struct {
	Instance string `json:"instance"`
	// Place is 0 for the leader, then 1 for the next, and -1 for one that would not lead now.
	Place    int    `json:"place"`
	Priority int    `json:"priority"`
	Takeover bool   `json:"takeover,omitempty"`
	Why      string `json:"why"`
}

func roleScreen(_ context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	name := q.Get("name")
	i := slices.IndexFunc(p.roles, func(r roleNow) bool { return r.Info.Role == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: bucket %s has no role %q", errNotThere, p.bucket, name)
	}
	r := &p.roles[i]
	info := &r.Info
	d := &roleData{
		Bucket: p.bucket, Role: name, State: info.State, Led: r.Led(), Leader: info.Leader, Epoch: info.Epoch, Since: r.since,
		TTL: info.TTL.Seconds(), Why: r.WhyVacant(), By: info.By, Next: info.Next, Late: r.Led() && r.HeartbeatLate(),
		Paused: info.Paused, Watched: p.watched, Terms: slices.Clone(r.terms), Line: r.line(p),
	}
	slices.Reverse(d.Terms)
	for _, e := range h.hub.events() {
		if e.Role == name {
			d.Events = append(d.Events, e)
		}
	}
	return d, nil
}

// line lists those that take part in the role, and says why each has its place.
func (r *roleNow) line(p *picture) (all []place) {
	info := &r.Info
	eligible := map[string]bool{}
	if info.Leader != "" {
		eligible[info.Leader] = true
		all = append(all, place{Instance: info.Leader, Priority: info.Priority, Why: "leads"})
		if !r.Led() {
			all[0].Why = "holds the role, and no heartbeat is seen"
		}
	}
	tier := 0
	for _, c := range info.Candidates {
		if c.Instance == info.Leader {
			tier = c.Tier
		}
	}
	for _, c := range info.Candidates {
		if eligible[c.Instance] {
			continue
		}
		n := len(eligible) + 1
		if info.Leader != "" {
			n--
		}
		why := "in line by priority, then by the age of its session"
		switch {
		case c.Tier != tier && r.Led():
			why = "in line by its zone"
		case info.Vacant && c.Instance == info.Next:
			why = "the last leader has handed the role to it"
		case info.Vacant && c.Instance == info.By:
			why = "comes last: it has given the role up"
		case c.Takeover && c.Priority > info.Priority && r.Led():
			why = "has a higher priority, and the leader hands over to it"
		}
		eligible[c.Instance] = true
		all = append(all, place{c.Instance, n, c.Priority, c.Takeover, why})
	}
	for i := range p.members {
		m := &p.members[i].Info
		if slices.Contains(m.Roles, info.Role) && !eligible[m.Instance] {
			why := "takes part, and would not lead now: " + findings.WhyAbsent(info, m.Instance)
			switch {
			case m.Draining:
				why = "is closing"
			case waitsFor(info, m.Instance) != "":
				why = "takes part, and waits to lead " + waitsFor(info, m.Instance)
			case info.Paused != nil:
				why = "takes part, and would lead if the role was not paused for all"
			}
			out := place{Instance: m.Instance, Place: -1, Why: why}
			for _, a := range info.Absent {
				if a.Instance == m.Instance {
					out.Priority = a.Priority
				}
			}
			all = append(all, out)
		}
	}
	return all
}

// waitsFor is the role that a member waits to lead before it may lead this one, "" for none.
func waitsFor(info *election.RoleInfo, member string) string {
	for _, w := range info.Waiting {
		if w.Instance == member {
			return w.For
		}
	}
	return ""
}

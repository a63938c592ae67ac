package dashboard

import (
	"cmp"
	"slices"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// picture is what the page knows at one moment. It does not change once it is made.
type picture struct {
	at        time.Time
	watched   time.Time // since when the page has watched
	connected bool
	lost      time.Time // since when it is not connected
	ended     string    // why the observer has ended, "" if it has not
	bucket    string
	roles     []roleNow
	members   []findings.MemberFacts
	tasks     []namespaceNow
	steered   []election.Steered
	found     findings.List
}

// At is when it was made.
func (p *picture) At() time.Time { return p.at }

// Trouble says why the picture is old, "" if it is not.
func (p *picture) Trouble() string {
	switch {
	case p.ended != "":
		return "This page no longer follows the bucket: " + p.ended
	case !p.connected:
		return "No connection to NATS since " + p.lost.UTC().Format("15:04:05") +
			" UTC. This picture is from before. Processes that are connected continue."
	}
	return ""
}

// roleNow is a role, with what the page has seen of it.
type roleNow struct {
	findings.RoleFacts
	since time.Time // of the state that the role is in
	alone bool      // nobody would take it over
	terms []term
}

// namespaceNow is the last answer of a scheduler.
type namespaceNow struct {
	Name     string           `json:"namespace"`
	Overview *assign.Overview `json:"overview,omitempty"`
	Asked    time.Time        `json:"asked,omitzero"`
	// Problem says why there is no answer.
	Problem string `json:"problem,omitempty"`
	Dead    int    `json:"dead"`
	// MoreDead says that there are more dead tasks than were counted.
	MoreDead bool `json:"more_dead,omitempty"`
	// DeadUnknown says that they could not be counted now. Dead is the last count, 0 without one.
	DeadUnknown bool `json:"dead_unknown,omitempty"`

	last findings.Seal // of the last scheduler that has answered
}

// look makes a picture of what the observer sees.
func (h *hub) look(now time.Time) *picture {
	o := h.options.Observer
	p := &picture{at: now, bucket: o.Bucket(), connected: o.Connected(), watched: h.watched}
	if err := o.Err(); err != nil {
		p.ended = wording.Plain(err)
	}
	infos, members := o.Roles(), o.Members()
	p.steered = o.Steered()
	p.members = findings.FactsOfMembers(members, infos)
	facts := make([]findings.RoleFacts, 0, len(infos))
	for _, info := range infos {
		facts = append(facts, findings.FactsOf(info))
	}
	h.mu.Lock()
	if p.connected {
		h.lost = time.Time{}
	} else if h.lost.IsZero() {
		h.lost = now
	}
	p.lost = h.lost
	for _, f := range facts {
		since := h.history.see(now, &f)
		p.roles = append(p.roles, roleNow{f, since, f.Alone(members), h.history.of(f.Info.Role)})
	}
	h.history.forget(infos)
	p.tasks = slices.Clone(h.answers)
	h.mu.Unlock()
	p.found = judge(p, facts, o.Spread())
	return p
}

// judge finds what is wrong, the worst first.
func judge(p *picture, facts []findings.RoleFacts, spread []election.SpreadInfo) (found findings.List) {
	found.Bucket(&findings.Bucket{
		Name: p.bucket, Now: p.at, Roles: facts, Members: p.members, Steered: p.steered, Spread: spread,
	})
	for _, n := range p.tasks {
		switch {
		case n.Problem != "":
			mute := slices.IndexFunc(facts, func(f findings.RoleFacts) bool {
				return f.Info.Leader != "" && f.Info.Epoch == n.last.Epoch
			})
			if mute >= 0 { // it has crashed, or hangs
				found.Mute(n.Name, &facts[mute])
			} else {
				found.Unscheduled(n.Name, n.Problem, "")
			}
		case n.Overview != nil:
			before := len(found)
			if short := found.Overview(n.Name, n.Overview, findings.Seal{}); len(found) == before {
				found.OK("tasks", "%s: %s", n.Name, short)
			}
		}
		found.Dead(n.Name, findings.Dead{N: n.Dead, More: n.MoreDead})
	}
	slices.SortStableFunc(found, func(a, b findings.Finding) int {
		return cmp.Compare(urgency(b.Level), urgency(a.Level))
	})
	return found
}

// urgency orders levels: an unknown state comes behind a known fault.
func urgency(l findings.Level) int {
	return [...]int{findings.OK: 0, findings.Unknown: 1, findings.Warning: 2, findings.Critical: 3}[l]
}

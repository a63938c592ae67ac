package dashboard

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// maxColumns is how many instances the table of roles has columns for.
const maxColumns = 20

// nowData is the first screen.
type nowData struct {
	Bucket    string    `json:"bucket"`
	Time      time.Time `json:"time"`
	Connected bool      `json:"connected"`
	Total     int       `json:"total"`
	Led       int       `json:"led"`
	// Unled are roles that nobody leads, without those that were left cleanly or are paused for all.
	Unled     int           `json:"unled"`
	Left      int           `json:"left"`
	Paused    int           `json:"paused,omitempty"` // for all, and led by nobody
	Members   int           `json:"members"`
	Instances []string      `json:"instances"`
	More      int           `json:"more_instances,omitempty"`
	Roles     []roleRow     `json:"roles"`
	Paging    paging        `json:"paging"`
	ToDo      findings.List `json:"to_do"`
	MoreToDo  int           `json:"more_to_do,omitempty"`
	Critical  int           `json:"critical"`
	Warnings  int           `json:"warnings"`
	Waits     []waitingKind `json:"waits"`
	MoreWaits int           `json:"more_waits,omitempty"`
	Waiting   int           `json:"waiting"`
	Delayed   int           `json:"delayed"`
	Running   int           `json:"running"`
	Dead      int           `json:"dead"`
	MoreDead  bool          `json:"more_dead,omitempty"`
	// DeadUnknown says that in a namespace they could not be counted now: Dead has its last count.
	DeadUnknown bool           `json:"dead_unknown,omitempty"`
	Problems    []namespaceNow `json:"problems,omitempty"`
	HasTasks    bool           `json:"has_tasks"`
	// Steered is what operators have told about zones and roles.
	Steered []steeredRow `json:"steered,omitempty"`
}

// roleRow is a role in the table.
type roleRow struct {
	Role      string              `json:"role"`
	State     election.Leadership `json:"state"`
	Led       bool                `json:"led"`
	Left      bool                `json:"left,omitempty"`
	Paused    bool                `json:"paused,omitempty"` // for all
	Leader    string              `json:"leader"`
	Epoch     uint64              `json:"epoch,omitempty"`
	Since     time.Time           `json:"since"`
	Why       string              `json:"why,omitempty"`
	Successor string              `json:"successor"`
	// Alone says that nobody would take it over, and Late that the leader has missed a heartbeat.
	Alone bool   `json:"no_successor,omitempty"`
	Late  bool   `json:"heartbeat_late,omitempty"`
	Cells []cell `json:"line"`
}

// steeredRow is what an operator has told about a zone or a role.
type steeredRow struct {
	election.Steered
	Text string `json:"text"`
	Back string `json:"back"` // the command that takes it back
}

// waitingKind is a kind of which tasks wait.
type waitingKind struct {
	Namespace string   `json:"namespace"`
	Kind      string   `json:"kind"`
	Waiting   int      `json:"waiting"`
	Paused    bool     `json:"paused,omitempty"`
	Why       []reason `json:"why"`
	Blocked   bool     `json:"blocked,omitempty"`
	// Since is since when the oldest of them has been due.
	Since time.Time `json:"oldest_since,omitzero"`
}

// reason is why tasks wait.
type reason struct {
	Reason assign.Reason `json:"reason"`
	Tasks  int           `json:"tasks"`
	Text   string        `json:"text"`
	Fix    string        `json:"fix,omitempty"`
}

const (
	mostToDo  = 6
	mostWaits = 6
)

func nowScreen(_ context.Context, h *Handler, p *picture, q url.Values) (any, error) {
	d := &nowData{
		Bucket: p.bucket, Time: p.at, Connected: p.connected, Members: len(p.members),
		Total:    len(p.roles),
		HasTasks: len(h.options.Tasks) > 0,
	}
	var rows []*roleNow
	for i := range p.roles {
		r := &p.roles[i]
		switch {
		case r.Led():
			d.Led++
		case r.Info.Paused != nil:
			d.Paused++
		case r.Left():
			d.Left++
		default:
			d.Unled++
		}
		if wanted(r, q) {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b *roleNow) int { return cmp.Compare(trouble(b), trouble(a)) })
	var err error
	if rows, d.Paging, err = pageOf(rows, q); err != nil {
		return nil, err
	}
	d.table(rows, p.members)
	for _, f := range p.found {
		switch f.Level {
		case findings.Critical:
			d.Critical++
		case findings.Warning, findings.Unknown:
			d.Warnings++
		case findings.OK:
			continue
		}
		if len(d.ToDo) < mostToDo {
			d.ToDo = append(d.ToDo, f)
		} else {
			d.MoreToDo++
		}
	}
	for i := range p.steered {
		s := &p.steered[i]
		d.Steered = append(d.Steered, steeredRow{*s, findings.SteeredText(s), findings.SteeredBack(s)})
	}
	for _, n := range p.tasks {
		d.tasks(n)
	}
	slices.SortStableFunc(d.Waits, func(a, b waitingKind) int { return cmp.Compare(b.Waiting, a.Waiting) })
	if d.MoreWaits = max(len(d.Waits)-mostWaits, 0); d.MoreWaits > 0 {
		d.Waits = d.Waits[:mostWaits]
	}
	return d, nil
}

// wanted reports whether a URL asks for that role.
func wanted(r *roleNow, q url.Values) bool {
	if q.Get("show") == "unled" && (r.Led() || r.Left() || r.Info.Paused != nil) {
		return false
	}
	text := strings.ToLower(q.Get("q"))
	return text == "" || strings.Contains(strings.ToLower(r.Info.Role), text) ||
		strings.Contains(strings.ToLower(r.Info.Leader), text)
}

// trouble orders roles: those that nobody leads come first, and those that were left cleanly last.
func trouble(r *roleNow) int {
	switch {
	case r.Left():
		return -1
	case !r.Led() && r.Info.Paused != nil:
		return 1
	case !r.Led():
		return 3
	case r.HeartbeatLate():
		return 2
	case r.alone:
		return 1
	}
	return 0
}

// table fills the rows, and the columns: the instances that take part in these roles.
func (d *nowData) table(rows []*roleNow, members []findings.MemberFacts) {
	weight := map[string]int{} // how often an instance leads or is in line
	part := partsIn(rows, members)
	for _, r := range rows {
		if r.Info.Leader != "" {
			weight[r.Info.Leader] += 3
		}
		for _, c := range r.Info.Candidates {
			weight[c.Instance] += 2
		}
		for instance := range part[r.Info.Role] {
			weight[instance]++
		}
	}
	d.Instances = slices.Sorted(maps.Keys(weight))
	if d.More = max(len(d.Instances)-maxColumns, 0); d.More > 0 {
		slices.SortStableFunc(d.Instances, func(a, b string) int { return cmp.Compare(weight[b], weight[a]) })
		d.Instances = slices.Sorted(slices.Values(d.Instances[:maxColumns]))
	}
	for _, r := range rows {
		info := &r.Info
		row := roleRow{
			Role: info.Role, State: info.State, Led: r.Led(), Left: r.Left(), Paused: info.Paused != nil,
			Leader: info.Leader, Epoch: info.Epoch,
			Since: r.since, Why: r.WhyVacant(), Successor: info.Successor, Alone: r.alone, Late: r.Led() && r.HeartbeatLate(),
		}
		place := map[string]int{}
		for _, c := range info.Candidates {
			if c.Instance != info.Leader {
				place[c.Instance] = len(place) + 1
			}
		}
		for _, instance := range d.Instances {
			c := cell{Instance: instance, Mark: "none"}
			switch n := place[instance]; {
			case instance == info.Leader && row.Led:
				c.Mark = "leads"
			case instance == info.Leader:
				c.Mark = "silent"
			case n > 0:
				c.Mark = strconv.Itoa(n)
			case part[info.Role][instance]:
				c.Mark, c.Why = "out", findings.WhyAbsent(info, instance)
			}
			row.Cells = append(row.Cells, c)
		}
		d.Roles = append(d.Roles, row)
	}
}

// partsIn are the instances that take part in each of some roles.
func partsIn(rows []*roleNow, members []findings.MemberFacts) map[string]map[string]bool {
	part := make(map[string]map[string]bool, len(rows))
	for _, r := range rows {
		part[r.Info.Role] = map[string]bool{}
	}
	for i := range members {
		for _, role := range members[i].Info.Roles {
			if in := part[role]; in != nil { // one of many has a row
				in[members[i].Info.Instance] = true
			}
		}
	}
	return part
}

// tasks counts those of a namespace.
func (d *nowData) tasks(n namespaceNow) {
	d.Dead += n.Dead
	d.MoreDead = d.MoreDead || n.MoreDead
	d.DeadUnknown = d.DeadUnknown || n.DeadUnknown
	if n.Problem != "" {
		d.Problems = append(d.Problems, n)
	}
	if n.Overview == nil {
		return
	}
	for _, k := range n.Overview.Kinds {
		d.Waiting += k.Waiting
		d.Delayed += k.Delayed
		d.Running += k.Running
		if k.Waiting > 0 || k.Paused {
			w := waitsOf(n.Name, n.Overview, k)
			if k.Oldest != nil {
				w.Since = n.Asked.Add(-k.Oldest.Waiting).Truncate(time.Second)
			}
			d.Waits = append(d.Waits, w)
		}
	}
}

// waitsOf puts into words why tasks of a kind wait.
func waitsOf(namespace string, o *assign.Overview, k assign.KindOverview) waitingKind {
	w := waitingKind{Namespace: namespace, Kind: k.Kind, Waiting: k.Waiting, Paused: k.Paused}
	left := k.Waiting
	for _, why := range slices.Sorted(maps.Keys(k.Reasons)) {
		r := reason{Reason: why, Tasks: k.Reasons[why], Text: wording.Words(string(why))}
		if text, fix, blocked := findings.Advice(namespace, k.Kind, why); blocked && o.Ready {
			r.Text, r.Fix, w.Blocked = text, fix, true
		}
		left -= r.Tasks
		w.Why = append(w.Why, r)
	}
	if left > 0 {
		w.Why = append(w.Why, reason{Tasks: left, Text: "about to be handed out"})
	}
	if k.Paused && len(w.Why) == 0 {
		text, fix, _ := findings.Advice(namespace, k.Kind, assign.ReasonPaused)
		w.Why, w.Blocked = append(w.Why, reason{Reason: assign.ReasonPaused, Text: text, Fix: fix}), true
	}
	return w
}

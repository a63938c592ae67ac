package dashboard

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/wording"
)

// membersData is the screen of all members.
type membersData struct {
	Bucket  string      `json:"bucket"`
	Members []memberRow `json:"members"`
	Paging  paging      `json:"paging"`
}

// memberRow is a member in the table.
type memberRow struct {
	Instance   string    `json:"instance"`
	State      string    `json:"state"` // active, idle, draining, silent
	WorkerOnly bool      `json:"worker_only,omitempty"`
	Beat       time.Time `json:"last_heartbeat"`
	// Age is the age of the last heartbeat as a share of the TTL, in percent.
	Age     int      `json:"heartbeat_age_percent"`
	TTL     float64  `json:"ttl_seconds"`
	Leads   []string `json:"leads"`
	Roles   int      `json:"roles"`
	Takes   string   `json:"takes_part_in,omitempty"` // the first few of them
	Program string   `json:"program,omitempty"`
	Version string   `json:"version,omitempty"`
	Zone    string   `json:"zone,omitempty"`
	// ZoneDrained says that an operator has drained that zone.
	ZoneDrained bool           `json:"zone_drained,omitempty"`
	Work        []workplaceRow `json:"tasks,omitempty"`
}

// ID is that of its row. A candidate and a worker-only member may have the same name.
func (m memberRow) ID() string {
	if m.WorkerOnly {
		return "m:worker:" + m.Instance
	}
	return "m:candidate:" + m.Instance
}

// workplaceRow is what a member offers a namespace.
type workplaceRow struct {
	Namespace string   `json:"namespace"`
	Slots     int      `json:"slots"`
	Kinds     []string `json:"kinds"`
	// Known says that the scheduler has told about it: how many slots are busy, and whether it is
	// given no tasks because it is drained or cannot be reached.
	Known       bool `json:"known,omitempty"`
	Busy        int  `json:"busy,omitempty"`
	Drained     bool `json:"drained,omitempty"`
	Unreachable bool `json:"unreachable,omitempty"`
}

// workers are those that the schedulers have told about, by namespace and session.
func (p *picture) workers() map[string]map[uint64]*assign.WorkerOverview {
	all := map[string]map[uint64]*assign.WorkerOverview{}
	for _, n := range p.tasks {
		if n.Overview == nil {
			continue
		}
		of := map[uint64]*assign.WorkerOverview{}
		for i := range n.Overview.Workers {
			of[n.Overview.Workers[i].Session] = &n.Overview.Workers[i]
		}
		all[n.Name] = of
	}
	return all
}

func membersScreen(_ context.Context, _ *Handler, p *picture, q url.Values) (any, error) {
	text := strings.ToLower(q.Get("q"))
	var all []*findings.MemberFacts
	for i := range p.members {
		if text == "" || strings.Contains(strings.ToLower(p.members[i].Info.Instance), text) {
			all = append(all, &p.members[i])
		}
	}
	all, pages, err := pageOf(all, q)
	if err != nil {
		return nil, err
	}
	workers := p.workers()
	d := &membersData{Bucket: p.bucket, Paging: pages, Members: []memberRow{}}
	for _, f := range all {
		m := &f.Info
		row := memberRow{
			Instance: m.Instance, State: f.State(), WorkerOnly: m.WorkerOnly, TTL: m.TTL.Seconds(), Leads: f.Leads,
			Beat: p.at.Add(-m.LastSeen).Truncate(time.Second), Roles: len(m.Roles),
			Takes:   wording.FirstFew(m.Roles),
			Age:     min(int(100*m.LastSeen/max(m.TTL, 1)), 100),
			Program: m.Meta[findings.MetaProgram], Version: m.Meta[findings.MetaVersion], Zone: cmp.Or(m.Zone, m.Meta["zone"]),
			ZoneDrained: m.Drained != nil,
		}
		if row.Leads == nil {
			row.Leads = []string{}
		}
		for _, namespace := range slices.Sorted(maps.Keys(m.Assign)) {
			w := m.Assign[namespace]
			place := workplaceRow{Namespace: namespace, Slots: w.Slots, Kinds: w.Kinds}
			if o := workers[namespace][m.Session]; o != nil {
				place.Known, place.Busy, place.Drained, place.Unreachable = true, o.Load, o.Drained, o.Unreachable
			}
			row.Work = append(row.Work, place)
		}
		d.Members = append(d.Members, row)
	}
	return d, nil
}

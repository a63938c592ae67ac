package exporter

import (
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
)

// View is what is shown: an election.Observer.
type View interface {
	Bucket() string
	StaleFor() time.Duration
	Roles() []election.RoleInfo
	Members() []election.MemberInfo
	Steered() []election.Steered
}

var _ View = (*election.Observer)(nil)

// Fill is how much of a limit of a stream is used.
type Fill struct {
	Stream string
	Limit  string // LimitBytes or LimitRecords
	Ratio  float64
}

// The limits of a stream.
const (
	LimitBytes   = "bytes"
	LimitRecords = "records"
)

// Examined is what is looked at from time to time.
type Examined struct {
	Findings findings.List
	Fills    []Fill
}

// Collector is a prometheus.Collector that looks at the view at each scrape.
type Collector struct {
	view  View
	bound time.Duration

	mu       sync.Mutex
	examined Examined
	until    time.Time // examined counts until then
}

var _ prometheus.Collector = (*Collector)(nil)

// New makes a collector. Nothing of a view that is older than the bound is shown.
func New(v View, bound time.Duration) *Collector { return &Collector{view: v, bound: bound} }

// Examined sets what was found, which counts until a time.
func (c *Collector) Examined(what Examined, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.examined, c.until = what, until
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append(labels, "bucket"), nil)
}

var (
	leaderInfo = desc("roles_leader_info", "1 for the member that leads the role.", "role", "leader")
	epoch      = desc("roles_epoch", "Epoch of the present term of the role.", "role")
	vacant     = desc("roles_vacant_seconds", "For how long nobody has led the role, 0 while somebody does.", "role")
	candidates = desc("roles_candidates", "Members that would lead the role, the leader included.", "role")
	waiting    = desc("roles_waiting", "Members that take part in the role once they lead another one.", "role")
	paused     = desc("roles_paused_seconds", "For how long the role has been paused for all.", "role")
	drained    = desc("roles_zone_drained_seconds", "For how long the zone has been drained.", "zone")
	beatAge    = desc("roles_member_heartbeat_age_seconds", "Age of the last heartbeat.", "member", "class")
	memberTTL  = desc("roles_member_ttl_seconds", "How old the last heartbeat may become.", "member", "class")
	found      = desc("roles_doctor_findings", "Findings of rolectl doctor that need attention.", "severity")
	fill       = desc("roles_stream_used_ratio", "How much of a limit is used, 1 for all.", "stream", "limit")
	viewAge    = desc("roles_view_age_seconds", "For how long what is seen of the bucket may be old, 0 while it is not.")
)

// Describe is called by the registry.
func (c *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		leaderInfo, epoch, vacant, candidates, waiting, paused, drained, beatAge, memberTTL, found, fill, viewAge,
	} {
		to <- d
	}
}

// Collect is called by the registry.
func (c *Collector) Collect(to chan<- prometheus.Metric) {
	s := scrape{to, c.view.Bucket()}
	age := c.view.StaleFor()
	s.add(viewAge, age.Seconds())
	if age > c.bound {
		return
	}
	for _, r := range c.view.Roles() {
		s.role(findings.FactsOf(r))
	}
	for _, m := range c.view.Members() {
		s.member(m)
	}
	for _, told := range c.view.Steered() {
		if lasts := max(time.Since(told.Since), 0).Seconds(); told.Zone != "" {
			s.add(drained, lasts, told.Zone)
		} else {
			s.add(paused, lasts, told.Role)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Now().After(c.until) {
		return
	}
	levels := map[findings.Level]int{}
	for _, f := range c.examined.Findings {
		levels[f.Level]++
	}
	for _, l := range []findings.Level{findings.Warning, findings.Critical, findings.Unknown} {
		s.add(found, float64(levels[l]), l.String())
	}
	for _, f := range c.examined.Fills {
		s.add(fill, f.Ratio, f.Stream, f.Limit)
	}
}

// scrape is one collection.
type scrape struct {
	to     chan<- prometheus.Metric
	bucket string
}

func (s scrape) add(d *prometheus.Desc, v float64, labels ...string) {
	for i, l := range labels { // names come from records that anybody may have written
		labels[i] = strings.ToValidUTF8(l, "\uFFFD")
	}
	m, err := prometheus.NewConstMetric(d, prometheus.GaugeValue, v, append(labels, s.bucket)...)
	if err != nil {
		m = prometheus.NewInvalidMetric(d, err)
	}
	s.to <- m
}

func (s scrape) role(f findings.RoleFacts) {
	info := &f.Info
	s.add(candidates, float64(len(info.Candidates)), info.Role)
	if n := len(info.Waiting); n > 0 {
		s.add(waiting, float64(n), info.Role)
	}
	if info.Epoch != 0 {
		s.add(epoch, float64(info.Epoch), info.Role)
	}
	switch {
	case f.Led():
		s.add(leaderInfo, 1, info.Role, info.Leader)
		s.add(vacant, 0, info.Role)
	case f.Left() || info.Unreadable || info.Paused != nil: // nobody is to lead it, or that is not known
	case info.State == election.RoleSilent && f.HeartbeatAge >= 0:
		s.add(vacant, f.HeartbeatAge.Seconds(), info.Role)
	default:
		s.add(vacant, max(f.Age, 0).Seconds(), info.Role)
	}
}

func (s scrape) member(m election.MemberInfo) {
	class := "candidate"
	if m.WorkerOnly {
		class = "worker"
	}
	s.add(beatAge, max(m.LastSeen, 0).Seconds(), m.Instance, class)
	s.add(memberTTL, m.TTL.Seconds(), m.Instance, class)
}

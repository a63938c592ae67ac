package stage

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

const (
	tableInterval = 100 * time.Millisecond // how often the table is redrawn
	shownMembers  = 10                     // a table that is higher than the terminal cannot be redrawn
)

// table is the cluster as its first living instance sees it now.
func (d *demo) table() []string { return d.tableOf(d.cluster.status()) }

func (d *demo) tableOf(seen status) []string {
	if len(seen.Roles) == 0 {
		return nil
	}
	lines := append(d.roleTable(seen), "")
	lines = append(append(lines, d.memberTable(seen)...), "")
	return append(lines, d.taskLine(), d.metricsLine(seen))
}

func (d *demo) roleTable(seen status) []string {
	rows := [][]string{{"ROLE", "LEADER", "EPOCH"}}
	for _, r := range seen.Roles {
		leader, epoch := "(nobody)", ""
		if r.Leader != "" {
			leader, epoch = r.Leader, fmt.Sprint(r.Epoch)
		}
		rows = append(rows, []string{r.Name, leader, epoch})
	}
	return d.align(rows)
}

func (d *demo) memberTable(seen status) []string {
	rows := [][]string{{"INSTANCE", "STATE", "LEADS", "RUNNING", "ROUND TRIP"}}
	rtt := d.roundTrips(seen)
	row := func(id, state, leads, running string) {
		trip := "-"
		if seconds, ok := rtt[id]; ok {
			trip = time.Duration(seconds * float64(time.Second)).Round(time.Microsecond).String()
		}
		rows = append(rows, []string{id, state, orDash(leads), running, trip})
	}
	c := d.cluster
	for _, in := range c.instances[:min(len(c.instances), shownMembers)] {
		row(in.id, string(in.state.get()), names(d.history.running(in.id)), fmt.Sprint(in.running.Load()))
	}
	row(c.worker.id, string(c.worker.state.get()), "", fmt.Sprint(c.worker.load()))
	for _, id := range seen.members() {
		if !c.owns(id) && len(rows) <= shownMembers {
			row(id, "elsewhere", "", "-")
		}
	}
	return d.align(rows)
}

// roundTrips are those that the leader of the network role has measured, in seconds, if it is of
// this process.
func (d *demo) roundTrips(seen status) map[string]float64 {
	leader := d.cluster.named(seen.leader(networkRole))
	if leader == nil {
		return nil
	}
	own, err := readMetrics(leader.url + "/metrics")
	if err != nil {
		return nil // "-" is shown
	}
	return own.by("network_rtt_seconds", "member")
}

func (d *demo) taskLine() string {
	t, total := d.job.progress(), len(d.job.files)
	const cells = 40
	full := cells * t.done() / total
	return fmt.Sprintf("tasks  [%s%s]  %d of %d done, %d failed",
		strings.Repeat("#", full), strings.Repeat(".", cells-full), t.done(), total, t.Failed)
}

// metricsLine is what the leader of the metrics role has gathered from all members, if it is of
// this process.
func (d *demo) metricsLine(seen status) string {
	const none = "metrics  (none at present)"
	leader := d.cluster.named(seen.leader(metricsRole))
	if leader == nil {
		return none
	}
	all, err := readMetrics(leader.url + "/federate")
	if err != nil {
		return none
	}
	if left := all.header.Get("Left-Out"); left != "" {
		return "metrics  " + left
	}
	var answered, asked int
	_, _ = fmt.Sscanf(all.header.Get("Members"), "%d of %d", &answered, &asked)
	return fmt.Sprintf("metrics of %d of %s: %.0f heartbeats, %.0f promotions, %.0f assignments, %.0f reassigned",
		answered, number(asked, "member"),
		all.total("election_heartbeat_duration_seconds"), all.total("election_failover_duration_seconds"),
		all.total("assign_assigned_total"), all.total("assign_reassigned_total"))
}

// align sets rows in columns, the first of them as a heading.
func (d *demo) align(rows [][]string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	lines[0] = d.screen.paint(bold, lines[0])
	return lines
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/roles"
)

const (
	tablePace    = 100 * time.Millisecond // how often the table is redrawn
	shownMembers = 10                     // a table that is higher than the terminal cannot be redrawn
)

// table is the cluster as its first living instance sees it.
func (c *cluster) table() []string {
	living := c.living()
	if len(living) == 0 {
		return nil
	}
	status := living[0].manager.Status()
	lines := c.roleTable(status)
	lines = append(append(lines, ""), c.memberTable(status.Members)...)
	return append(lines, "", c.taskLine(), c.metricsLine())
}

func (c *cluster) roleTable(status roles.Status) []string {
	rows := [][]string{{"ROLE", "LEADER", "EPOCH", "SUCCESSOR"}}
	for _, r := range status.Roles {
		leader, epoch := "(nobody)", ""
		if r.LeaderID != "" {
			leader, epoch = r.LeaderID, fmt.Sprint(r.Epoch)
		}
		rows = append(rows, []string{r.Name, leader, epoch, orDash(r.Successor)})
	}
	return c.align(rows)
}

func (c *cluster) memberTable(members []election.MemberInfo) []string {
	rows := [][]string{{"INSTANCE", "STATE", "LEADS", "RUNNING", "ROUND TRIP"}}
	rtt := c.roundTrips()
	row := func(id, state, leads, running string) {
		trip := "-"
		if d, ok := rtt[id]; ok {
			trip = d.Round(time.Microsecond).String()
		}
		rows = append(rows, []string{id, state, orDash(leads), running, trip})
	}
	for _, in := range c.instances[:min(len(c.instances), shownMembers)] {
		row(in.id, string(in.fate.now()), names(c.history.running(in.id)), fmt.Sprint(in.scheduler.running.Load()))
	}
	row(c.worker.id, string(c.worker.fate.now()), "", fmt.Sprint(c.worker.load()))
	for _, m := range members {
		if !c.ours(m.Instance) && len(rows) <= shownMembers {
			row(m.Instance, "elsewhere", "", "-")
		}
	}
	return c.align(rows)
}

// roundTrips are those that the leader of the network role has measured, if it is one of ours.
func (c *cluster) roundTrips() map[string]time.Duration {
	for _, in := range c.living() {
		if rtt := in.network.latest(); rtt != nil {
			return rtt
		}
	}
	return nil
}

func (c *cluster) taskLine() string {
	t, total := c.job.progress(), len(c.job.files)
	const cells = 40
	full := cells * t.done() / total
	return fmt.Sprintf("tasks  [%s%s]  %d of %d done, %d failed", strings.Repeat("#", full), strings.Repeat(".", cells-full),
		t.done(), total, t.Failed)
}

// metricsLine is what the leader of the metrics role has gathered from all members, if it is one of ours.
func (c *cluster) metricsLine() string {
	for _, in := range c.living() {
		round := in.metrics.latest.Load()
		if round == nil {
			continue
		}
		if round.err != nil {
			return "metrics  " + strings.ReplaceAll(round.err.Error(), "\n", "; ")
		}
		return fmt.Sprintf("metrics of %d of %d members: %.0f heartbeats, %.0f promotions, %.0f assignments, %.0f reassigned",
			round.answered, round.asked, total(round.families, "election_heartbeat_duration_seconds"),
			total(round.families, "election_failover_duration_seconds"), total(round.families, "assign_assigned_total"),
			total(round.families, "assign_reassigned_total"))
	}
	return "metrics  (none at present)"
}

// align sets rows in columns, the first of them as a heading.
func (c *cluster) align(rows [][]string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, cells := range rows {
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
	lines[0] = c.screen.paint(bold, lines[0])
	return lines
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rolemanager/rolemanager/bench/figures"
	"github.com/rolemanager/rolemanager/bench/report/chart"
)

const ours = "rolemanager"

// compared are the figures whose ratios come first: medians, of the largest size that both have,
// and the peer has not lost its roles at.
var compared = map[string][]struct{ label, job, mode, figure string }{
	"elections": {
		{"messages at rest, in and out", "rest", "", "messages/s"},
		{"processor time at rest", "rest", "", "cpu-processes-%"},
		{"goroutines of a process at rest", "rest", "", "goroutines/process"},
		{"memory of a process at rest", "rest", "", "memory-bytes/process"},
		{"crash: until another leads", "crash", "TTL 4s", "failover-ms"},
		{"hand-over: until another leads", "handover", "", "gap-ms"},
		{"… on synced stores", "handover-synced", "", "gap-ms"},
		{"crash of the leader of many: until the last is led", "mass", "", "last-ms"},
		{"… from the first of them to the last", "mass", "", "spread-ms"},
		{"… on synced stores", "mass-synced", "", "spread-ms"},
		{"many candidates, the leader gives up: writes of the role", "herd", "", "writes/given-up"},
		{"… it crashes", "herd", "", "writes/crash"},
		{"… messages at rest, with as many candidates", "herd", "", "messages-at-rest/s"},
	},
	"tasks": {
		{"tasks a second, buffered (more is better)", "throughput", "buffered", "tasks/s"},
		{"… submitted in batches", "throughput", "buffered", "tasks/s-batch"},
		{"tasks a second, synced (more is better)", "throughput", "synced", "tasks/s"},
		{"… submitted in batches", "throughput", "synced", "tasks/s-batch"},
		{"idle: submission until it begins, with the defaults", "latency", "defaults", "begins-ms"},
		{"idle: submission until it begins, tuned", "latency", "tuned", "begins-ms"},
		{"crash of a worker: until its tasks run elsewhere, with the defaults", "rerun", "defaults", "rerun-ms"},
		{"… as soon as the peer can be set to", "rerun", "impatient", "rerun-ms"},
	},
}

// noted says about a row that its value is not the whole story: what was waited for had not
// happened.
func noted(r figures.Row) bool { return r.Note != "" }

// ratios are each peer's figures over this library's.
func (s *source) ratios(group string) string {
	var names []string
	for _, c := range compared[group] {
		for _, p := range s.peers.where(c.job, "", c.mode, c.figure, -1).peers() {
			if p != ours && !slices.Contains(names, p) {
				names = append(names, p)
			}
		}
	}
	if len(names) == 0 {
		return unmeasured
	}
	t := newTable(append([]string{"their figure ÷ rolemanager's (N)"}, names...)...)
	for _, c := range compared[group] {
		cells := []string{c.label}
		for _, p := range names {
			cells = append(cells, s.ratio(c.job, c.mode, c.figure, p))
		}
		t.row(cells...)
	}
	return t.String()
}

func (s *source) ratio(job, mode, figure, peer string) string {
	theirs := s.peers.where(job, peer, mode, figure, -1)
	all := theirs.sizes()
	for i := len(all) - 1; i >= 0; i-- {
		n := all[i]
		mine := s.peers.where(job, ours, mode, figure, n).values()
		if len(mine) == 0 || s.collapsed(job, peer, n) {
			continue
		}
		their := theirs.where("", "", "", "", n)
		a, b := their.values().median(), mine.median()
		if a <= 0 || b <= 0 {
			return fmt.Sprintf("%s : %s", number(a), number(b)) // no ratio: at or below nothing
		}
		cell := number(a/b) + " ×"
		if slices.ContainsFunc(their, noted) {
			cell = "> " + cell // it had not happened when the wait was over
		}
		if n > 1 {
			cell += fmt.Sprintf(" (%s)", number(float64(n)))
		}
		return cell
	}
	return "–"
}

// collapsed reports whether roles were lost and won again while a peer was measured at rest.
func (s *source) collapsed(job, peer string, n int) bool {
	begun := s.peers.where(job, peer, "", "terms-begun", n).values()
	return len(begun) > 0 && slices.Max(begun) > 0
}

// spread is a table of medians and worst cases of one figure, a row for each peer and mode.
func (s *source) spread(job, figure string) string {
	rows := s.peers.where(job, "", "", figure, -1)
	if len(rows) == 0 {
		return unmeasured
	}
	t := newTable(figure, "N", "median", "99th percentile", "smallest", "largest", "samples")
	for _, mode := range rows.modes() {
		for _, n := range rows.where("", "", mode, "", -1).sizes() {
			for _, peer := range rows.peers() {
				r := rows.where("", peer, mode, "", n)
				v := r.values()
				if len(v) == 0 {
					continue
				}
				largest := number(slices.Max(v))
				if i := slices.IndexFunc(r, noted); i >= 0 {
					largest += " (" + r[i].Note + ")"
				}
				t.row(strings.TrimSuffix(peer+", "+mode, ", "), number(float64(n)), number(v.median()), number(v.worst()),
					number(slices.Min(v)), largest, number(float64(len(v))))
			}
		}
	}
	return t.String()
}

// sizes is a table of one figure with a row for each N and a column for each peer, and how many
// samples it is of. A dagger says that the peer lost its roles meanwhile.
func (s *source) sizes(job, figure string) string {
	rows := s.peers.where(job, "", "", figure, -1)
	if len(rows) == 0 {
		return unmeasured
	}
	names := s.peers.where(job, "", "", "", -1).peers()
	t := newTable(append([]string{figure + ", N ="}, names...)...)
	var all counts
	for _, n := range rows.sizes() {
		cells := []string{number(float64(n))}
		for _, p := range names {
			v := rows.where("", p, "", "", n).values()
			cell := number(v.median())
			all.add(len(v))
			if figure != "terms-begun" && s.collapsed(job, p, n) {
				cell += " †"
			}
			if late := s.peers.where(job, p, "", "overdue-s", n); len(late) > 0 {
				cell = late[0].Note
			}
			cells = append(cells, cell)
		}
		t.row(cells...)
	}
	return fmt.Sprintf("%s\n%s\n", t.String(), all)
}

// verdicts is a table of what happened, by peer, where that is not a number.
func (s *source) verdicts(job string) string {
	rows := s.peers.where(job, "", "", "", -1)
	if len(rows) == 0 {
		return unmeasured
	}
	t := &table{}
	t.row("peer", "what happened")
	t.row("---", "---")
	for _, r := range rows {
		note := r.Note
		if r.Figure == "overdue-s" {
			note = "not within the time of this test: " + note
		}
		t.row(r.Peer, note)
	}
	return t.String()
}

// leftOut says which peers could not do which jobs, or not in time, and why.
func (s *source) leftOut() string {
	var b strings.Builder
	for _, r := range s.peers {
		switch {
		case r.Figure == "left-out" || r.Figure == "failed":
			fmt.Fprintf(&b, "- %s, %s: %s\n", r.Job, r.Peer, r.Note)
		case r.Figure == "overdue-s" && r.Job != "late": // which has a table of what happened
			fmt.Fprintf(&b, "- %s, %s, N = %d: given up after %s s: %s\n", r.Job, r.Peer, r.N, number(r.Value), r.Note)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "These could not be done:\n\n" + b.String()
}

// dots draws the samples of one figure, a row for each peer and mode.
func (s *source) dots(name, title, job, mode, figure string, log bool) (string, error) {
	rows := s.peers.where(job, "", mode, figure, -1)
	if len(rows) == 0 {
		return "", nil
	}
	var all []chart.Samples
	for _, peer := range rows.peers() {
		all = append(all, chart.Samples{Name: peer, All: rows.where("", peer, "", "", -1).values()})
	}
	return s.plot(name, title, func(w io.Writer) error { return chart.Dots(w, title, figure, log, all) })
}

// curves draws one figure over N, a line for each peer.
func (s *source) curves(name, title, job, figure string) (string, error) {
	rows := s.peers.where(job, "", "", figure, -1)
	if len(rows) == 0 {
		return "", nil
	}
	var all []chart.Curve
	for _, peer := range rows.peers() {
		all = append(all, curveOf(peer, rows.where("", peer, "", "", -1)))
	}
	return s.plot(name, title, func(w io.Writer) error { return chart.Curves(w, title, "N", figure, all) })
}

func curveOf(name string, rows data) chart.Curve {
	c := chart.Curve{Name: name}
	for _, n := range rows.sizes() {
		c.X = append(c.X, float64(n))
		c.Y = append(c.Y, rows.where("", "", "", "", n).values().median())
	}
	return c
}

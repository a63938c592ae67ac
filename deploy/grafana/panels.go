package main

import "fmt"

// The kinds of panels.
const (
	stat  = "stat"
	graph = "timeseries"
	table = "table"
)

// section is a row of the dashboard: views side by side, of one height.
type section struct {
	title  string
	height int
	views  []view
}

// view is one panel.
type view struct {
	kind    string
	title   string
	about   string
	width   int
	unit    string
	bad     float64 // of a stat: from here on it is red; 0 for never
	rename  map[string]string
	queries []query
}

type query struct{ expr, legend string }

// selections are what a reader chooses at the top.
func selections() []variable {
	from := &source{"prometheus", "${datasource}"}
	return []variable{
		{Name: "datasource", Label: "Prometheus", Type: "datasource", Query: "prometheus", Refresh: 1},
		{
			Name: "bucket", Label: "Bucket", Type: "query", Datasource: from, Refresh: 2, Sort: 1,
			Query: `label_values({__name__=~"roles_view_age_seconds|election_connection_status"}, bucket)`,
		},
		{
			Name: "role", Label: "Role", Type: "query", Datasource: from, Refresh: 2, Sort: 1, Multi: true, IncludeAll: true,
			AllValue: ".*", Query: `label_values({__name__=~"roles_candidates|election_is_leader", bucket="$bucket"}, role)`,
		},
		{
			Name: "namespace", Label: "Tasks", Type: "query", Datasource: from, Refresh: 2, Sort: 1, Multi: true,
			IncludeAll: true, AllValue: ".*", Query: `label_values(assign_queue_depth{bucket="$bucket"}, namespace)`,
		},
	}
}

var sections = []section{
	{"Now", 4, []view{
		{kind: stat, title: "Roles", width: 3, queries: []query{{
			`count(count by (role) ({__name__=~"roles_candidates|election_is_leader", bucket="$bucket"}))`, "",
		}}},
		{
			kind: stat, title: "Led by nobody", width: 3, bad: 1,
			about: "As the exporter sees it, else as the processes say. A hand-over may show for one scrape.",
			queries: []query{{
				`count((min by (role) (roles_vacant_seconds{bucket="$bucket"}) > 0 ` +
					`or sum by (role) (election_is_leader{bucket="$bucket"}) < 1 unless on (role) roles_vacant_seconds{bucket="$bucket"}) ` +
					`unless on (role) roles_paused_seconds{bucket="$bucket"}) or vector(0)`, "",
			}},
		},
		{kind: stat, title: "Without a successor", width: 3, bad: 1, queries: []query{{
			`count((max by (role) (roles_candidates{bucket="$bucket"}) ` +
				`or max by (role) (election_candidates{bucket="$bucket"})) < 2) or vector(0)`, "",
		}}},
		{kind: stat, title: "Members", width: 3, queries: []query{{
			`count(count by (member, class) (roles_member_ttl_seconds{bucket="$bucket"}))`, "",
		}}},
		{kind: stat, title: "Critical findings", width: 3, bad: 1, about: "See rolectl doctor.", queries: []query{{
			`max(roles_doctor_findings{bucket="$bucket", severity="critical"})`, "",
		}}},
		{kind: stat, title: "View is old", width: 3, unit: "s", bad: 10, queries: []query{{
			`min(roles_view_age_seconds{bucket="$bucket"})`, "",
		}}},
		{kind: stat, title: "Longest wait", width: 3, unit: "s", bad: 600, queries: []query{{
			`max(assign_oldest_waiting_seconds{bucket="$bucket", namespace=~"$namespace"}) or vector(0)`, "",
		}}},
		{kind: stat, title: "Dead tasks", width: 3, bad: 1, queries: []query{{
			`sum(max by (namespace, kind) (assign_dead_tasks{bucket="$bucket", namespace=~"$namespace"})) or vector(0)`, "",
		}}},
	}},
	{"Roles", 9, []view{
		{
			kind: table, title: "Leaders", width: 12,
			rename: map[string]string{"Value #B": "epoch", "Value #C": "candidates"},
			queries: []query{
				{`max by (role, leader) (roles_leader_info{bucket="$bucket", role=~"$role"})`, ""},
				{`max by (role) (roles_epoch{bucket="$bucket", role=~"$role"})`, ""},
				{`max by (role) (roles_candidates{bucket="$bucket", role=~"$role"})`, ""},
			},
		},
		{kind: graph, title: "Nobody leads", width: 12, unit: "s", queries: []query{
			{`min by (role) (roles_vacant_seconds{bucket="$bucket", role=~"$role"}) > 0`, "{{role}}"},
		}},
		{kind: graph, title: "Hand-overs", width: 8, about: "Promotions in five minutes.", queries: []query{
			{`sum by (role) (increase(election_transitions_total{bucket="$bucket", role=~"$role", to="leader"}[5m]))`, "{{role}}"},
		}},
		{
			kind: graph, title: "Fail-over", width: 8, unit: "s",
			about: "From the last sign of the former leader to the promotion.",
			queries: []query{
				quantile(50, "election_failover_duration_seconds", `bucket="$bucket", role=~"$role"`, ""),
				quantile(99, "election_failover_duration_seconds", `bucket="$bucket", role=~"$role"`, ""),
			},
		},
		{kind: graph, title: "Faults", width: 8, unit: "ops", queries: []query{
			{`sum by (reason) (rate(election_failures_total{bucket="$bucket"}[$__rate_interval])) > 0`, "{{reason}}"},
			{`sum by (role) (election_stuck{bucket="$bucket", role=~"$role"}) > 0`, "stuck: {{role}}"},
		}},
	}},
	{"Members", 8, []view{
		{kind: graph, title: "Age of the last heartbeat, in TTLs", width: 12, unit: "none", queries: []query{{
			`topk(20, min by (member, class) (roles_member_heartbeat_age_seconds{bucket="$bucket"}) ` +
				`/ max by (member, class) (roles_member_ttl_seconds{bucket="$bucket"}))`, "{{member}}",
		}}},
		{kind: graph, title: "Round trip of heartbeats", width: 12, unit: "s", queries: []query{
			quantile(50, "election_heartbeat_duration_seconds", `bucket="$bucket"`, ""),
			quantile(99, "election_heartbeat_duration_seconds", `bucket="$bucket"`, ""),
		}},
	}},
	{"Tasks", 8, []view{
		{kind: graph, title: "Open tasks", width: 8, queries: []query{
			{`sum by (namespace, state) (assign_open_tasks{bucket="$bucket", namespace=~"$namespace"})`, "{{namespace}} {{state}}"},
		}},
		{kind: graph, title: "Outcomes", width: 8, unit: "ops", queries: []query{{
			`sum by (kind, outcome) (rate(assign_completed_total{bucket="$bucket", namespace=~"$namespace"}[$__rate_interval]))`,
			"{{kind}} {{outcome}}",
		}}},
		{kind: graph, title: "Slots of workers", width: 8, queries: []query{
			{`sum by (namespace, state) (assign_worker_slots{bucket="$bucket", namespace=~"$namespace"})`, "{{namespace}} {{state}}"},
		}},
		{kind: graph, title: "Longest wait", width: 8, unit: "s", queries: []query{{
			`max by (namespace, kind) (assign_oldest_waiting_seconds{bucket="$bucket", namespace=~"$namespace"})`,
			"{{namespace}} {{kind}}",
		}}},
		{kind: graph, title: "From due to assigned", width: 8, unit: "s", queries: []query{
			quantile(50, "assign_schedule_to_start_seconds", `bucket="$bucket", namespace=~"$namespace"`, "kind"),
			quantile(99, "assign_schedule_to_start_seconds", `bucket="$bucket", namespace=~"$namespace"`, "kind"),
		}},
		{kind: graph, title: "Run time", width: 8, unit: "s", queries: []query{
			quantile(50, "assign_run_seconds", `bucket="$bucket", namespace=~"$namespace"`, "kind"),
			quantile(99, "assign_run_seconds", `bucket="$bucket", namespace=~"$namespace"`, "kind"),
		}},
		{kind: graph, title: "Dead tasks", width: 8, queries: []query{{
			`max by (namespace, kind) (assign_dead_tasks{bucket="$bucket", namespace=~"$namespace"})`, "{{namespace}} {{kind}}",
		}}},
		{kind: graph, title: "Run again, refused, fenced", width: 8, unit: "ops", queries: []query{
			{
				`sum by (kind, cause) (rate(assign_reassigned_total{bucket="$bucket", namespace=~"$namespace"}[$__rate_interval]))`,
				"again: {{kind}} {{cause}}",
			},
			{
				`sum by (kind, reason) (rate(assign_rejected_total{bucket="$bucket", namespace=~"$namespace"}[$__rate_interval]))`,
				"refused: {{kind}} {{reason}}",
			},
			{
				`sum by (namespace) (rate(assign_fenced_writes_total{bucket="$bucket", namespace=~"$namespace"}[$__rate_interval]))`,
				"fenced: {{namespace}}",
			},
		}},
		{kind: graph, title: "How full the streams are", width: 8, unit: "percentunit", queries: []query{
			{`max by (stream, limit) (roles_stream_used_ratio{bucket="$bucket"})`, "{{stream}} {{limit}}"},
		}},
	}},
}

// quantile is the query for a percentile of a histogram, by a label, "" for none.
func quantile(percent int, histogram, of, by string) query {
	labels, legend := "le", fmt.Sprint("p", percent)
	if by != "" {
		labels, legend = "le, "+by, "{{"+by+"}} "+legend
	}
	return query{
		fmt.Sprintf(`histogram_quantile(0.%02d, sum by (%s) (rate(%s_bucket{%s}[$__rate_interval])))`, percent, labels,
			histogram, of), legend,
	}
}

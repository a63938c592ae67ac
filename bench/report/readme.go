package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Between these lines of the README stand figures, and nothing that is written by hand.
const (
	readmeBegins = "<!-- Written by go run ./bench/report -->\n"
	readmeEnds   = "<!-- to here -->\n"
)

// claim is a line of the README's tables: of one figure, of each peer, the median or the worst. n
// is -1 for as many as there were.
type claim struct {
	label, job, mode, figure string
	n                        int
	of                       func(sample) float64
	show                     func(float64) string
}

var (
	electionClaims = []claim{
		{"messages a second at rest, 1,000 roles in three processes", "rest", "", "messages/s", 1000, sample.median, number},
		{"memory of a process for them", "rest", "", "memory-bytes/process", 1000, sample.median, megabytes},
		{"a leader is killed: until another leads, TTL 4 s", "crash", "TTL 4s", "failover-ms", 1, sample.median, duration},
		{
			"… one that leads 10,000 roles: until the last of them is led", "mass", "TTL 4s", "last-ms", 10_000, sample.median,
			duration,
		},
		{
			"a role is given up: from the end of its work to the next leader's", "handover", "TTL 4s", "gap-ms", 1,
			sample.median, gap,
		},
		{
			"the leader's link freezes: two work for, at worst, TTL 4 s or 1 s", "frozen", "", "both-work-ms", 1, sample.largest,
			overlap,
		},
	}
	taskClaims = []claim{
		{
			"tasks a second, where a power failure may take the last ones", "throughput", "buffered", "tasks/s", 100_000,
			sample.median, number,
		},
		{"… where it takes none", "throughput", "synced", "tasks/s", -1, sample.median, number},
		{"… the same on three servers", "throughput", "synced, three replicas", "tasks/s", -1, sample.median, number},
		{
			"idle, with the defaults: from submission until it begins", "latency", "defaults", "begins-ms", 1, sample.median,
			duration,
		},
		{
			"a worker is killed, with the defaults: until its tasks run elsewhere", "rerun", "defaults", "rerun-ms", 1,
			sample.median, duration,
		},
		{
			"… as soon as the settings allow (river, asyncjobs: if no task may take 5 s)", "rerun", "impatient", "rerun-ms", 1,
			sample.median, duration,
		},
	}
)

// readme is the part of the README that is figures.
func (s *source) readme() string {
	const settings = "Versions, settings and every sample are in the [benchmarks](docs/explanation/benchmarks.md).\n\n"
	var b strings.Builder
	b.WriteString(s.summary() + "\n")
	b.WriteString("The figures are medians where nothing else is said. " +
		"Each table was measured side by side on one machine of two processors,\n")
	fmt.Fprintf(&b, "elections on %s, tasks on %s", cmp.Or(s.day("elections"), "?"), cmp.Or(s.day("tasks"), "?"))
	if lost := s.day("reruns"); lost != "" && lost != s.day("tasks") {
		fmt.Fprintf(&b, " and killed workers on %s", lost)
	}
	if s.apart() != "" {
		b.WriteString(" with each synced write by itself: today they go together")
	}
	b.WriteString(". " + settings)
	return b.String()
}

// day is when a part was measured, "" if that is not known.
func (s *source) day(part string) string {
	text, _ := os.ReadFile(filepath.Join(s.dir, part+".txt")) // without it nothing is known
	_, rest, found := strings.Cut(string(text), "Measured on ")
	if !found {
		return ""
	}
	day, _, _ := strings.Cut(rest, " ")
	return day
}

// gathered is the day since which writes of tasks to a synced store go together where that is
// faster.
const gathered = "2026-11-26"

// apart says that the tasks were measured before that day, if they were.
func (s *source) apart() string {
	if day := s.day("tasks"); day == "" || day >= gathered {
		return ""
	}
	return "The figures of tasks on synced stores are of a commit that stored each record by itself. Since " + gathered +
		" submissions and\noutcomes go together in batches where that is faster: see [an fsync for each write]" +
		"(#an-fsync-for-each-write). They were not measured again.\n\n"
}

// summary is the figures that matter most, of elections and of tasks.
func (s *source) summary() string {
	return s.claims(s.elections, electionClaims) + "\n" + s.claims(slices.Concat(s.tasks, s.reruns), taskClaims)
}

func (s *source) claims(of data, all []claim) string {
	names := of.where(all[0].job, "", all[0].mode, all[0].figure, all[0].n).peers()
	t := newTable(append([]string{""}, names...)...)
	for _, c := range all {
		cells, known := []string{c.label}, false
		for _, peer := range names {
			cell := of.claim(c, peer)
			cells, known = append(cells, cell), known || cell != unknown
		}
		if known {
			t.row(cells...)
		}
	}
	return t.String()
}

const unknown = "–"

func (d data) claim(c claim, peer string) string {
	rows := d.where(c.job, peer, c.mode, c.figure, c.n)
	late := d.where(c.job, peer, "", "overdue-s", c.n)
	switch {
	case len(rows) == 0 && len(late) > 0:
		return "not within " + number(late[0].Value) + " s"
	case len(rows) == 0:
		return unknown
	case noted(rows[0]): // it had not happened when the wait was over
		return "> " + c.show(c.of(rows.values()))
	}
	return c.show(c.of(rows.values()))
}

func megabytes(v float64) string { return number(v/1e6) + " MB" }

func duration(ms float64) string {
	if ms >= 1000 {
		return number(ms/1000) + " s"
	}
	return number(ms) + " ms"
}

// gap is between the work of two leaders; below 0 both were at work.
func gap(ms float64) string {
	if ms < 0 {
		return "both work for " + duration(-ms)
	}
	return duration(ms)
}

func overlap(ms float64) string {
	if ms < 0 {
		return "no time"
	}
	return duration(ms)
}

// withFigures is a README with the figures of now between its two lines.
func (s *source) withFigures(readme string) (string, error) {
	before, rest, begins := strings.Cut(readme, readmeBegins)
	_, after, ends := strings.Cut(rest, readmeEnds)
	if !begins || !ends {
		return "", fmt.Errorf("the README has no lines %q and %q for figures to stand between", readmeBegins, readmeEnds)
	}
	return before + readmeBegins + s.readme() + readmeEnds + after, nil
}

// writeReadme puts the figures of the raw data in docs into a README.
func writeReadme(path, docs string) error {
	s, err := read(docs)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := s.withFigures(string(old))
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// report is what came of a run.
type report struct {
	Run       string       `json:"run"`
	Instances int          `json:"instances"`
	TTLMS     int64        `json:"ttl_ms"`
	TookMS    int64        `json:"took_ms"`
	Roles     []roleReport `json:"roles"`
	Tasks     tally        `json:"tasks"`
	Ticks     ticks        `json:"ticks"`
	Failovers []failover   `json:"failovers"`
	// Killed is what came of the tasks of the worker that was killed. It is null if none was.
	Killed *killedWorker `json:"killed"`
	// Adopted counts the tasks that somebody had when another scheduler began to hand out: none of them was run again for that.
	Adopted int64 `json:"adopted"`
	// Overlaps counts the pairs of terms of one role that shared time. It is null where other processes took part: their
	// clocks cannot be compared with this one's.
	Overlaps *int `json:"overlaps"`
	// Faults says what was lost, wrong, failed or overlapped, each in a line.
	Faults []string `json:"faults,omitempty"`

	terms int // swept
}

// roleReport is one role when the last task was done.
type roleReport struct {
	Name      string `json:"name"`
	Leader    string `json:"leader,omitempty"`
	Successor string `json:"successor,omitempty"`
	Epoch     uint64 `json:"epoch,omitempty"`
	// Terms counts those that instances of this process led.
	Terms int `json:"terms"`
}

// report takes stock of the job and the roles; sweep adds what the history says.
func (c *cluster) report() *report {
	r := &report{
		Run: c.job.run, Instances: c.options.instances, TTLMS: c.options.ttl.Milliseconds(), TookMS: c.history.now().Milliseconds(),
		Roles: c.roleReports(), Tasks: c.job.progress(), Failovers: []failover{}, Faults: c.job.problems(),
		Ticks: c.ticks, Adopted: c.adopted.Load(),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Failovers, r.Killed = append(r.Failovers, c.failovers...), c.killed
	return r
}

// sweep looks for overlaps in everything up to now.
func (r *report) sweep(c *cluster) {
	terms := c.history.all()
	r.terms = len(terms)
	found := sweep(terms)
	for _, o := range found {
		r.Faults = append(r.Faults, fmt.Sprintf("%s was led by %s (epoch %d) and %s (epoch %d) at the same time for %v",
			o.a.role, o.a.instance, o.a.epoch, o.b.instance, o.b.epoch, o.by))
	}
	if n := len(found); n > 0 || !c.elsewhere() {
		r.Overlaps = &n
	}
}

func (c *cluster) roleReports() []roleReport {
	terms := map[string]int{}
	for _, t := range c.history.all() {
		terms[t.role]++
	}
	all := []roleReport{}
	if living := c.living(); len(living) > 0 {
		for _, r := range living[0].manager.Status().Roles {
			all = append(all, roleReport{Name: r.Name, Leader: r.LeaderID, Successor: r.Successor, Epoch: r.Epoch, Terms: terms[r.Name]})
		}
	}
	return all
}

// Errors of a run that was performed to its end.
var (
	errFaulty      = errors.New("a promise was broken: see the report")
	errInterrupted = errors.New("interrupted before every task was done")
)

// verdict is errFaulty if anything was lost, wrong or overlapped. A file that cannot be read is no broken promise.
func (r *report) verdict() error {
	switch {
	case r.Tasks.Lost > 0, r.Tasks.Wrong > 0, r.Ticks.Missing > 0, r.Overlaps != nil && *r.Overlaps > 0:
		return errFaulty
	case r.Tasks.Unfinished > 0:
		return errInterrupted
	}
	return nil
}

// publish prints the report: for a person, or as one JSON document on stdout and for a person where the progress goes.
func (r *report) publish(c *cluster, stdout io.Writer) error {
	c.screen.print(r.summary()...)
	if !c.options.json {
		return nil
	}
	e := json.NewEncoder(stdout)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// shownFaults is how many faults the summary lists; the JSON report has them all.
const shownFaults = 10

// summary is the report for a person.
func (r *report) summary() []string {
	t := r.Tasks
	lines := []string{
		"", fmt.Sprintf("tasks      %d submitted: %d succeeded with the right digest, %d failed, %d wrong, %d lost",
			t.Submitted, t.Succeeded, t.Failed, t.Wrong, t.Lost),
		fmt.Sprintf("           %d reruns, %d of them from a checkpoint; %d cancelled; %d adopted by another scheduler",
			t.Reruns, t.Resumed, t.Cancelled, r.Adopted),
		fmt.Sprintf("ticks      %d of the recurring task, one for each second; %d missing", r.Ticks.Fired+r.Ticks.Left, r.Ticks.Missing),
	}
	if t.Unfinished > 0 {
		lines = append(lines, fmt.Sprintf("           %d unfinished: interrupted", t.Unfinished))
	}
	if k := r.Killed; k != nil {
		lines = append(lines, k.line())
	}
	for _, f := range r.Failovers {
		lines = append(lines, fmt.Sprintf("fail-over  %-9s  %-8s  %10v  %s to %s", f.Role, f.Kind, milliseconds(f.GapMS), f.From, f.To))
	}
	if r.Overlaps != nil {
		lines = append(lines, fmt.Sprintf("overlaps   %d in %d terms", *r.Overlaps, r.terms))
	} else {
		lines = append(lines, "overlaps   not known: clocks of different processes cannot be compared")
	}
	for i, f := range r.Faults {
		if i == shownFaults {
			lines = append(lines, fmt.Sprintf("           … and %d more", len(r.Faults)-i))
			break
		}
		lines = append(lines, "           "+f)
	}
	return append(lines, fmt.Sprintf("time       %.1f s", float64(r.TookMS)/1000))
}

// milliseconds is a number of them, as a duration that is not longer than it need be.
func milliseconds(n float64) time.Duration {
	return time.Duration(n * float64(time.Millisecond)).Round(10 * time.Microsecond)
}

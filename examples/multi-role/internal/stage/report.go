package stage

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// report is the result of a run.
type report struct {
	Run       string       `json:"run"`
	Instances int          `json:"instances"`
	TTLMS     int64        `json:"ttl_ms"`
	TookMS    int64        `json:"took_ms"`
	Roles     []roleReport `json:"roles"`
	Tasks     tally        `json:"tasks"`
	Ticks     ticks        `json:"ticks"`
	Failovers []failover   `json:"failovers"`
	// Killed describes the tasks of the worker that was killed. It is null if none was.
	Killed *killedWorker `json:"killed"`
	// Adopted counts the tasks that ran already when another scheduler began to hand out: they were
	// not run again for that.
	Adopted int64 `json:"adopted"`
	// Overlaps counts the pairs of terms of one role that shared time. It is null if other
	// processes took part: their clocks cannot be compared with that of this process.
	Overlaps *int `json:"overlaps"`
	// Faults lists what was lost, wrong, failed or overlapped, one line each.
	Faults []string `json:"faults,omitempty"`

	terms int // swept
}

// roleReport is one role when the last task was done.
type roleReport struct {
	Name   string `json:"name"`
	Leader string `json:"leader,omitempty"`
	Epoch  uint64 `json:"epoch,omitempty"`
	// Terms counts the terms of instances of this process.
	Terms int `json:"terms"`
}

// report is the report without the overlaps, which sweep adds.
func (d *demo) report() *report {
	r := &report{
		Run: d.job.run, Instances: d.options.instances, TTLMS: d.options.ttl.Milliseconds(),
		TookMS: d.history.now().Milliseconds(), Roles: d.roleReports(), Tasks: d.job.progress(),
		Failovers: []failover{}, Faults: d.job.problems(),
		Ticks: d.ticks, Adopted: d.adopted.Load(),
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.Failovers, r.Killed = append(r.Failovers, d.failovers...), d.killed
	return r
}

// sweep looks for overlaps in all terms up to now.
func (r *report) sweep(d *demo) {
	terms := d.history.all()
	r.terms = len(terms)
	found := sweep(terms)
	for _, o := range found {
		r.Faults = append(r.Faults, fmt.Sprintf("%s was led by %s (epoch %d) and %s (epoch %d) at the same time for %v",
			o.a.role, o.a.instance, o.a.epoch, o.b.instance, o.b.epoch, o.by))
	}
	if n := len(found); n > 0 || !d.cluster.noticeForeign(d.cluster.status()) {
		r.Overlaps = &n
	}
}

func (d *demo) roleReports() []roleReport {
	terms := map[string]int{}
	for _, t := range d.history.all() {
		terms[t.role]++
	}
	all := []roleReport{}
	for _, r := range d.cluster.status().Roles {
		all = append(all, roleReport{r.Name, r.Leader, r.Epoch, terms[r.Name]})
	}
	return all
}

// Errors of a run that came to its end.
var (
	errFaulty      = errors.New("a promise was broken: see the report")
	errInterrupted = errors.New("interrupted before every task was done")
)

// verdict is errFaulty if anything was lost, wrong or overlapped. A file that cannot be read breaks
// no promise.
func (r *report) verdict() error {
	switch {
	case r.Tasks.Lost > 0, r.Tasks.Wrong > 0, r.Ticks.Missing > 0, r.Overlaps != nil && *r.Overlaps > 0:
		return errFaulty
	case r.Tasks.Unfinished > 0:
		return errInterrupted
	}
	return nil
}

// publish prints the report: for a person, or as one JSON document on stdout and for a person where
// the progress goes.
func (r *report) publish(d *demo, stdout io.Writer) error {
	d.screen.print(r.summary()...)
	if !d.options.json {
		return nil
	}
	e := json.NewEncoder(stdout)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/event"
)

type assignCollectors struct {
	labels *labels

	submitted, assigned, rejected, completed, reassigned, stale, stuck, fenced, progress, ticks *prometheus.CounterVec

	leaving *prometheus.CounterVec

	queue, oldest, inFlight, open, slots, dead *prometheus.GaugeVec

	wait, run, recovery *prometheus.HistogramVec
}

func newAssignCollectors(l *labels) *assignCollectors {
	return &assignCollectors{
		labels:    l,
		submitted: l.counter("assign_submitted_total", "Stored submissions taken into the queue.", "namespace", "kind"),
		assigned:  l.counter("assign_assigned_total", "Assignments that a worker has accepted.", "namespace", "kind"),
		rejected: l.counter("assign_rejected_total",
			"Assignments and frames that a worker has refused, and frames that a scheduler has.", "namespace", "kind", "reason"),
		completed:  l.counter("assign_completed_total", "Tasks whose outcome is stored.", "namespace", "kind", "outcome"),
		reassigned: l.counter("assign_reassigned_total", "Tasks that went to another attempt.", "namespace", "kind", "cause"),
		stale:      l.counter("assign_stale_results_total", "Late outcomes that were not accepted.", "namespace", "kind"),
		stuck: l.counter("assign_stuck_handlers_total",
			"Attempts whose handler has not returned for long after its context has ended.", "namespace", "kind"),
		fenced: l.counter("assign_fenced_writes_total", "Writes of this scheduler that the server has refused.",
			"namespace"),
		progress: l.counter("assign_progress_total", "Reports of progress by running tasks, with and without a checkpoint.",
			"namespace", "checkpoint"),
		ticks: l.counter("assign_ticks_total", "Ticks of recurrences: fired, dropped as missed, or skipped.", "namespace",
			"result"),
		leaving: l.counter("assign_dead_tasks_leaving_total", "Dead tasks that were reported since they leave soon.",
			"namespace", "kind"),
		dead:  l.gauge("assign_dead_tasks", "Dead tasks that the stream keeps.", "namespace", "kind"),
		queue: l.gauge("assign_queue_depth", "Tasks that are due and wait for a worker.", "namespace"),
		oldest: l.gauge("assign_oldest_waiting_seconds", "For how long the task that waits longest has been due.",
			"namespace", "kind"),
		inFlight: l.gauge("assign_in_flight", "Tasks that a worker has.", "namespace"),
		open:     l.gauge("assign_open_tasks", "Tasks without an outcome, by state.", "namespace", "state"),
		slots:    l.gauge("assign_worker_slots", "Slots of all workers, by state.", "namespace", "state"),
		wait: l.histogram("assign_schedule_to_start_seconds",
			"From the submission, or from when it was due, to the assignment.", 0.0001, 3, "namespace", "kind"),
		run: l.histogram("assign_run_seconds", "How long the last attempt of a task with an outcome ran.", 0.0001, 4,
			"namespace", "kind"),
		recovery: l.histogram("assign_recovery_seconds", "From the promotion of a scheduler until it hands out tasks.", 0.001,
			2.5, "namespace"),
	}
}

func (c *assignCollectors) all() []prometheus.Collector {
	return []prometheus.Collector{
		c.submitted, c.assigned, c.rejected, c.completed, c.reassigned, c.stale, c.stuck, c.fenced, c.progress, c.ticks,
		c.leaving, c.queue, c.oldest, c.inFlight, c.open, c.slots, c.dead, c.wait, c.run, c.recovery,
	}
}

// observe counts e, and reports whether e is an event that it counts.
func (c *assignCollectors) observe(e event.Event) bool {
	of, bound := c.labels.values, c.labels.bound
	switch e := e.(type) {
	case event.TaskSubmitted:
		c.submitted.WithLabelValues(of(e.Meta, e.Namespace, bound("kind", e.Kind))...).Inc()
	case event.TaskAssigned:
		kind := bound("kind", e.Kind)
		c.assigned.WithLabelValues(of(e.Meta, e.Namespace, kind)...).Inc()
		c.wait.WithLabelValues(of(e.Meta, e.Namespace, kind)...).Observe(e.Wait.Seconds())
	case event.TaskRejected:
		c.rejected.WithLabelValues(of(e.Meta, e.Namespace, bound("kind", e.Kind), bound("reason", e.Reason))...).Inc()
	case event.TaskCompleted:
		kind := bound("kind", e.Kind)
		c.completed.WithLabelValues(of(e.Meta, e.Namespace, kind, bound("task_outcome", e.Outcome))...).Inc()
		if e.Run > 0 { // else it has never run
			c.run.WithLabelValues(of(e.Meta, e.Namespace, kind)...).Observe(e.Run.Seconds())
		}
	case event.TaskReassigned:
		c.reassigned.WithLabelValues(of(e.Meta, e.Namespace, bound("kind", e.Kind), bound("cause", e.Cause))...).Inc()
	case event.TaskStale:
		c.stale.WithLabelValues(of(e.Meta, e.Namespace, bound("kind", e.Kind))...).Inc()
	case event.TaskStuck:
		c.stuck.WithLabelValues(of(e.Meta, e.Namespace, bound("kind", e.Kind))...).Inc()
	case event.TaskFenced:
		c.fenced.WithLabelValues(of(e.Meta, e.Namespace)...).Inc()
	case event.TaskRecovered:
		c.recovery.WithLabelValues(of(e.Meta, e.Namespace)...).Observe(e.Took.Seconds())
	case event.TaskProgress:
		c.progress.WithLabelValues(of(e.Meta, e.Namespace, "yes")...).Add(float64(e.Checkpoints))
		c.progress.WithLabelValues(of(e.Meta, e.Namespace, "no")...).Add(float64(max(e.Reports-e.Checkpoints, 0)))
	case event.TaskTicked:
		c.ticks.WithLabelValues(of(e.Meta, e.Namespace, "fired")...).Add(float64(e.Fired))
		c.ticks.WithLabelValues(of(e.Meta, e.Namespace, "dropped")...).Add(float64(e.Dropped))
		c.ticks.WithLabelValues(of(e.Meta, e.Namespace, "skipped")...).Add(float64(e.Skipped))
	case event.TaskGauges:
		c.levels(e)
	case event.DeadTasksLeaving:
		c.leaving.WithLabelValues(of(e.Meta, e.Namespace, bound("kind", e.Kind))...).Add(float64(e.Tasks))
	case event.DeadTasks:
		c.byKind(c.dead, e.Meta, e.Namespace, e.Kept)
	default:
		return false
	}
	return true
}

// levels sets the gauges of a scheduler.
func (c *assignCollectors) levels(e event.TaskGauges) {
	of := c.labels.values
	c.queue.WithLabelValues(of(e.Meta, e.Namespace)...).Set(float64(e.Queue))
	c.inFlight.WithLabelValues(of(e.Meta, e.Namespace)...).Set(float64(e.InFlight))
	if e.Oldest != nil || e.Queue == 0 {
		gone := c.labels.ofSession(e.Meta)
		gone["namespace"] = e.Namespace
		c.oldest.DeletePartialMatch(gone)
		longest := map[string]float64{} // several kinds may be one "other"
		for kind, waits := range e.Oldest {
			kind = c.labels.bound("kind", kind)
			longest[kind] = max(longest[kind], waits.Seconds())
		}
		for kind, waits := range longest {
			c.oldest.WithLabelValues(of(e.Meta, e.Namespace, kind)...).Set(waits)
		}
	}
	c.byState(c.open, "task_state", e, e.States)
	c.byState(c.slots, "state", e, e.Slots)
}

// byKind sets a gauge for each kind, and removes the others.
func (c *assignCollectors) byKind(g *prometheus.GaugeVec, m event.Meta, namespace string, levels map[string]int) {
	gone := c.labels.ofSession(m)
	gone["namespace"] = namespace
	g.DeletePartialMatch(gone)
	for kind, n := range levels { // several kinds may be one "other"
		g.WithLabelValues(c.labels.values(m, namespace, c.labels.bound("kind", kind))...).Add(float64(n))
	}
}

// byState sets a gauge for each state; name is the label that bounds the values of the states. A
// state that is not reported any more is set to 0 and not removed, since a scrape in between would
// see nothing.
func (c *assignCollectors) byState(g *prometheus.GaugeVec, bound string, e event.TaskGauges, levels map[string]int) {
	sum := make(map[string]int, len(levels))
	for state, n := range levels {
		sum[c.labels.bound(bound, state)] += n
	}
	for _, state := range c.labels.known(bound) {
		g.WithLabelValues(c.labels.values(e.Meta, e.Namespace, state)...).Set(float64(sum[state]))
	}
	if n, ok := sum[otherValue]; ok {
		g.WithLabelValues(c.labels.values(e.Meta, e.Namespace, otherValue)...).Set(float64(n))
	}
}

// forget removes the gauges of a session that is gone.
func (c *assignCollectors) forget(gone prometheus.Labels) {
	for _, g := range []*prometheus.GaugeVec{c.queue, c.oldest, c.inFlight, c.open, c.slots, c.dead} {
		g.DeletePartialMatch(gone)
	}
}

package metrics

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/rolemanager/rolemanager/event"
)

var (
	at   = time.Unix(1_700_000_000, 500_000_000)
	meta = event.Meta{Time: at, Bucket: "roles", Instance: "node-1", Session: 7}
)

// newMetrics returns a Metrics in a registry of its own.
func newMetrics(t *testing.T, opts ...Option) (*Metrics, *prometheus.Registry) {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	m, err := New(reg, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return m, reg
}

// everything is at least one of every event that a metric is made of.
func everything(m event.Meta) []event.Event {
	return []event.Event{
		event.ConnectionChanged{Meta: m, Connected: true},
		event.SessionOpened{Meta: m, TTL: 10 * time.Second},
		event.RoleJoined{Meta: m, Role: "scheduler"},
		event.RoleJoined{Meta: m, Role: "other"},
		event.CandidatesChanged{Meta: m, Role: "other", Candidates: 2},
		event.CandidatesChanged{Meta: m, Role: "foreign", Candidates: 2},
		event.LeaderChanged{Meta: m, Role: "foreign", Leader: "node-2", Epoch: 8},
		event.Heartbeat{Meta: m, Duration: time.Millisecond, Outcome: event.OutcomeRefused},
		event.TaskCompleted{Meta: m, Namespace: "ns", Kind: "never-ran", Outcome: "expired"},
		event.Heartbeat{Meta: m, Duration: time.Millisecond, Outcome: event.OutcomeWon},
		event.Heartbeat{Meta: m, Duration: time.Second, Outcome: event.OutcomeUnknown},
		event.LeaderChanged{Meta: m, Role: "other", Leader: "node-2", Epoch: 9},
		event.ClaimAttempted{Meta: m, Role: "scheduler", Outcome: event.OutcomeRefused},
		event.ClaimAttempted{Meta: m, Role: "scheduler", Outcome: event.OutcomeWon},
		event.RolePromoted{Meta: m, Role: "scheduler", Epoch: 42, Gap: 20 * time.Millisecond},
		event.RoleRotated{Meta: m, Role: "scheduler", Epoch: 50},
		event.TokenValidated{Meta: m, Role: "scheduler", OK: true},
		event.TokenValidated{Meta: m, Role: "scheduler"},
		event.RoleDemoted{Meta: m, Role: "scheduler", Epoch: 50, Led: time.Minute},
		event.RolePromoted{Meta: m, Role: "backup", Epoch: 60},
		event.WorkReturned{Meta: m, Role: "scheduler"},
		event.WorkReturned{Meta: m, Role: "scheduler", Panic: true},
		event.CallbackPanicked{Meta: m, Role: "scheduler"},
		event.RoleStuck{Meta: m, Role: "scheduler"},
		event.FenceRejected{Meta: m, Role: "scheduler"},
		event.RecordIgnored{Meta: m, Key: "c.role.x"},
		event.Fault{Meta: m, Role: "scheduler"},
		event.SessionLost{Meta: m},
		event.TaskSubmitted{Meta: m, Namespace: "ns", Kind: "sum"},
		event.TaskAssigned{Meta: m, Namespace: "ns", Kind: "sum", Wait: time.Millisecond},
		event.TaskRejected{Meta: m, Namespace: "ns", Kind: "sum", Reason: "full"},
		event.TaskCompleted{Meta: m, Namespace: "ns", Kind: "sum", Outcome: "done", Run: time.Second},
		event.TaskReassigned{Meta: m, Namespace: "ns", Kind: "sum", Cause: "worker_lost"},
		event.TaskStale{Meta: m, Namespace: "ns", Kind: "sum"},
		event.TaskStuck{Meta: m, Namespace: "ns", Kind: "sum"},
		event.TaskFenced{Meta: m, Namespace: "ns"},
		event.TaskRecovered{Meta: m, Namespace: "ns", Took: time.Second},
		event.TaskProgress{Meta: m, Namespace: "ns", Reports: 3, Checkpoints: 1},
		event.TaskTicked{Meta: m, Namespace: "ns", Recurrence: "nightly", Fired: 1, Dropped: 2, Skipped: 3},
		event.DeadTasks{Meta: m, Namespace: "ns", Kept: map[string]int{"k": 3}},
		event.DeadTasksLeaving{Meta: m, Namespace: "ns", Kind: "k", Tasks: 1, First: "t"},
		event.TaskGauges{
			Meta: m, Namespace: "ns", Queue: 5, InFlight: 3, Oldest: map[string]time.Duration{"sum": 90 * time.Second},
			States: map[string]int{"pending": 5, "running": 3}, Slots: map[string]int{"busy": 3, "free": 1},
		},
		event.Lagged{Meta: m, N: 1},
	}
}

// noHistograms are the names whose text is short enough to compare as a whole.
var noHistograms = []string{
	"election_is_leader", "election_epoch", "election_leader_since_timestamp_seconds", "election_transitions_total",
	"election_acquire_attempts_total", "election_failures_total", "election_token_validation_failures_total",
	"election_last_heartbeat_timestamp_seconds", "election_connection_status", "assign_submitted_total",
	"assign_assigned_total", "assign_rejected_total", "assign_completed_total", "assign_reassigned_total",
	"assign_stale_results_total", "assign_stuck_handlers_total", "assign_fenced_writes_total",
	"assign_queue_depth", "assign_in_flight",
	"assign_worker_slots", "election_candidates", "election_stuck", "election_ttl_seconds",
	"assign_oldest_waiting_seconds",
	"assign_progress_total", "assign_ticks_total", "assign_open_tasks",
}

func TestEveryEvent(t *testing.T) {
	m, reg := newMetrics(t)
	for _, e := range everything(meta) {
		m.Observe(e)
	}
	golden, err := os.Open("testdata/everything.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer golden.Close()
	if err := testutil.GatherAndCompare(reg, golden, noHistograms...); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]int{ // series, each with a count of 1
		"election_heartbeat_duration_seconds": 3, "election_leader_duration_seconds": 1,
		"election_failover_duration_seconds": 1,
		"assign_schedule_to_start_seconds":   1, "assign_run_seconds": 1, "assign_recovery_seconds": 1,
	} {
		if n, err := testutil.GatherAndCount(reg, name); err != nil || n != want {
			t.Errorf("%s has %d series, %v; want %d", name, n, err, want)
		}
	}
	if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) != 0 {
		t.Errorf("promlint: %v %v", problems, err)
	}
}

// The names are a contract: those in the package's documentation are those that exist.
func TestDocumentedNames(t *testing.T) {
	m, reg := newMetrics(t, WithKubernetesNames())
	for _, e := range everything(meta) {
		m.Observe(e)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	exist := map[string]bool{}
	for _, f := range families {
		exist[f.GetName()] = true
	}
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, name := range regexp.MustCompile(`\b(?:leader_election|election|assign)_[a-z_]*[a-z]`).FindAllString(string(doc), -1) {
		documented[name] = true
		if !exist[name] {
			t.Errorf("%s is documented and does not exist", name)
		}
	}
	for name := range exist {
		if !documented[name] {
			t.Errorf("%s exists and is not documented", name)
		}
	}
	if len(exist) != 36 {
		t.Errorf("%d metrics, want 16 of elections and 20 of tasks", len(exist))
	}
}

func TestRegisterTwice(t *testing.T) {
	_, reg := newMetrics(t)
	var taken prometheus.AlreadyRegisteredError
	if _, err := New(reg); !errors.As(err, &taken) {
		t.Errorf("the second New: %v", err)
	}
	if _, err := New(nil); err == nil {
		t.Error("New(nil) returns no error")
	}
	if _, err := New(prometheus.WrapRegistererWithPrefix("other_", reg)); err != nil {
		t.Errorf("under another prefix: %v", err)
	}
	// One name that is taken leaves nothing behind.
	reg = prometheus.NewPedanticRegistry()
	reg.MustRegister(prometheus.NewGauge(prometheus.GaugeOpts{Name: "assign_in_flight", Help: "mine"}))
	if _, err := New(reg); err == nil {
		t.Error("a taken name causes no error")
	}
	if n, err := testutil.GatherAndCount(reg); err != nil || n != 1 {
		t.Errorf("%d series are registered beside the taken name, %v", n-1, err)
	}
}

func TestUnregister(t *testing.T) {
	m, reg := newMetrics(t)
	m.Observe(event.RolePromoted{Meta: meta, Role: "r", Epoch: 1})
	if !reg.Unregister(m) {
		t.Error("not unregistered")
	}
	if _, err := New(reg); err != nil {
		t.Errorf("New after Unregister: %v", err)
	}
}

// Several instances in one process: each has its own series, and only the gauges of the closed one
// go.
func TestInstances(t *testing.T) {
	m, reg := newMetrics(t, WithInstanceLabel())
	for _, instance := range []string{"node-1", "node-2"} {
		mt := meta
		mt.Instance = instance
		for _, e := range everything(mt) {
			m.Observe(e)
		}
	}
	m.Observe(event.SessionClosed{Meta: meta})
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		instances := map[string]bool{}
		for _, metric := range f.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == "instance_id" {
					instances[label.GetValue()] = true
				}
			}
		}
		gauge := strings.EqualFold(f.GetType().String(), "gauge")
		if !instances["node-2"] || instances["node-1"] == gauge {
			t.Errorf("%s (%v) after node-1 was closed has %v", f.GetName(), f.GetType(), instances)
		}
	}
}

func TestGaugesOfAClosedSessionGo(t *testing.T) {
	m, reg := newMetrics(t)
	for _, e := range everything(meta) {
		m.Observe(e)
	}
	other := meta
	other.Bucket = "other"
	m.Observe(event.RolePromoted{Meta: other, Role: "scheduler", Epoch: 3})
	m.Observe(event.SessionClosed{Meta: meta})
	for name, want := range map[string]int{
		"election_is_leader": 1, "election_epoch": 1, "election_leader_since_timestamp_seconds": 1,
		"election_last_heartbeat_timestamp_seconds": 0,
		"election_connection_status":                0, "assign_queue_depth": 0, "assign_in_flight": 0,
		"assign_worker_slots": 0, "assign_open_tasks": 0, "assign_submitted_total": 1,
	} {
		if n, err := testutil.GatherAndCount(reg, name); err != nil || n != want {
			t.Errorf("%s has %d series, %v; want %d", name, n, err, want)
		}
	}
}

func TestSlotsOfAStateThatIsGone(t *testing.T) {
	m, _ := newMetrics(t)
	m.Observe(event.TaskGauges{Meta: meta, Namespace: "ns", Slots: map[string]int{"busy": 3, "free": 1}})
	m.Observe(event.TaskGauges{Meta: meta, Namespace: "ns", Slots: map[string]int{"free": 4}})
	for state, want := range map[string]float64{"busy": 0, "free": 4} {
		if got := testutil.ToFloat64(m.assign.slots.WithLabelValues("ns", state, "roles")); got != want {
			t.Errorf("%s = %v, want %v", state, got, want)
		}
	}
}

// A peer that sends ever new kinds and reasons does not make ever new series.
func TestSeriesAreBounded(t *testing.T) {
	m, reg := newMetrics(t)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 500 {
				m.Observe(event.TaskSubmitted{Meta: meta, Namespace: "ns", Kind: fmt.Sprint(w, i)})
				m.Observe(event.TaskGauges{Meta: meta, Namespace: "ns", Slots: map[string]int{fmt.Sprint(w, i): 1}})
			}
		})
	}
	wg.Wait()
	for _, name := range []string{"assign_submitted_total", "assign_worker_slots"} {
		if n, err := testutil.GatherAndCount(reg, name); err != nil || n != maxValues+1 {
			t.Errorf("%s has %d series, %v; want %d and one for the rest", name, n, err, maxValues)
		}
	}
	if got := testutil.ToFloat64(m.assign.submitted.WithLabelValues("ns", otherValue, "roles")); got != 4*500-maxValues {
		t.Errorf("other = %v, want the rest of 2000", got)
	}
}

package metrics_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/metrics"
)

func TestMain(m *testing.M) { natstest.Main(m) }

// process is a session with metrics of its own, as a process has them.
type process struct {
	t        *testing.T
	registry *prometheus.Registry
	session  *election.Session
}

func start(t *testing.T, s *natsrun.Server, id string) *process {
	t.Helper()
	p := &process{t: t, registry: prometheus.NewPedanticRegistry()}
	m, err := metrics.New(p.registry, metrics.WithKubernetesNames())
	if err != nil {
		t.Fatal(err)
	}
	p.session, err = election.NewSession(election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true, InstanceID: id, TTL: 2 * time.Second, DrainTimeout: time.Second,
		Sinks: []event.Sink{m},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.session.Close(context.Background()) })
	return p
}

func (p *process) campaign(role string, lead func(context.Context, *election.Term) error) *election.Election {
	p.t.Helper()
	e, err := p.session.Campaign(election.RoleConfig{Role: role, Lead: lead})
	if err != nil {
		p.t.Fatal(err)
	}
	if err := e.Start(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	return e
}

// value is that of the series of a name with a label of this value, "" for any.
func (p *process) value(name, label string) (v float64, there bool) {
	p.t.Helper()
	families, err := p.registry.Gather()
	if err != nil {
		p.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if label == "" || l.GetValue() == label {
					return m.GetGauge().GetValue(), true
				}
			}
		}
	}
	return 0, false
}

// shows fails the test unless the process shows this value; -1 means that there is no such series.
func (p *process) shows(when, name, label string, want float64) {
	p.t.Helper()
	natstest.Settle(p.t)
	if v, there := p.value(name, label); there != (want >= 0) || there && v != want {
		p.t.Errorf("%s, %s shows %s of %q = %v (%t), want %v", when, p.session.Instance(), name, label, v, there, want)
	}
}

// TestGaugesOfRoles: the levels of a role are those of a real election, and leave with it.
func TestGaugesOfRoles(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a, b := start(t, s, "a"), start(t, s, "b")
		free := make(chan struct{})
		leading := a.campaign("billing", func(ctx context.Context, _ *election.Term) error {
			<-free // whatever its context says
			<-ctx.Done()
			return nil
		})
		time.Sleep(time.Second)
		waiting := b.campaign("billing", func(ctx context.Context, _ *election.Term) error {
			<-ctx.Done()
			return nil
		})
		time.Sleep(time.Second)
		for p, leads := range map[*process]float64{a: 1, b: 0} {
			p.shows("with two", "election_ttl_seconds", "", 2)
			p.shows("with two", "election_candidates", "billing", 2)
			p.shows("with two", "election_stuck", "billing", 0)
			p.shows("with two", "election_is_leader", "billing", leads)
			p.shows("with two", "leader_election_master_status", "billing", leads)
		}
		stepped := make(chan error, 1)
		go func() { stepped <- leading.StepDown(t.Context()) }()
		time.Sleep(2 * time.Second)
		a.shows("when its work does not return", "election_stuck", "billing", 1)
		a.shows("when its work does not return", "leader_election_master_status", "billing", 0)
		close(free)
		if err := <-stepped; err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		a.shows("when its work has returned", "election_stuck", "billing", 0)
		b.shows("when it has taken over", "leader_election_master_status", "billing", 1)
		if err := waiting.Stop(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for _, name := range []string{
			"election_is_leader", "election_candidates", "election_stuck", "election_epoch",
			"leader_election_master_status",
		} {
			b.shows("when it has left the role", name, "billing", -1)
		}
		b.shows("when it has left the role", "election_ttl_seconds", "", 2)
		time.Sleep(10 * time.Second) // a has cooled down
		a.shows("when b has left the role", "election_candidates", "billing", 1)
		if err := b.session.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.shows("when it is closed", "election_ttl_seconds", "", -1)
	})
}

// TestGaugesOfTasks: what waits and what is dead is that of a real scheduler, by kind, and a kind
// of which nothing is left leaves. One who hands out no more shows nothing of it.
func TestGaugesOfTasks(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := start(t, s, "a")
		work, err := assign.New(a.session, assign.Config{Namespace: "jobs", Role: "scheduler", StreamAutoCreate: true})
		if err != nil {
			t.Fatal(err)
		}
		fails := assign.NewKind[int, int]("fails", assign.MaxAttempts(1), assign.DeadRetention(time.Hour))
		if err := assign.Handle(work, fails, func(context.Context, *assign.Task[int]) (int, error) {
			return 0, errors.New("always")
		}); err != nil {
			t.Fatal(err)
		}
		scheduler := a.campaign("scheduler", work.Lead)
		c, err := assign.NewClient(natstest.Connect(t, s), assign.ClientConfig{Namespace: "jobs"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		time.Sleep(5 * time.Second)
		dead, err := assign.Submit(t.Context(), c, fails, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dead.Wait(t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			t.Fatal(err)
		}
		waits, err := assign.Submit(t.Context(), c, assign.NewKind[int, int]("nobodys"), 1)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(90 * time.Second)
		if v, _ := a.value("assign_oldest_waiting_seconds", "nobodys"); v < 85 || v > 95 {
			t.Errorf("after 90 s one has waited for %v s", v)
		}
		time.Sleep(10 * time.Minute)
		a.shows("some time after a task is dead", "assign_dead_tasks", "fails", 1)
		if err := waits.Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		a.shows("when the task that waited is cancelled", "assign_oldest_waiting_seconds", "nobodys", -1)
		if err := scheduler.Stop(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		a.shows("when it hands out no more", "assign_dead_tasks", "fails", -1)
	})
}

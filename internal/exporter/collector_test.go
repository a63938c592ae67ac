package exporter

import (
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/findings"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

func TestMain(m *testing.M) { natstest.Main(m) }

func member(t *testing.T, s *natsrun.Server, id string, workerOnly bool) *election.Session {
	t.Helper()
	session, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", BucketAutoCreate: true, InstanceID: id, TTL: 2 * time.Second, WorkerOnly: workerOnly,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Open(t.Context(), natstest.Connect(t, s)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close(context.Background()) })
	return session
}

// candidate takes part in a role, which may depend on another one.
func candidate(t *testing.T, s *election.Session, role string, while *election.Election) *election.Election {
	t.Helper()
	lead := func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		return nil
	}
	e, err := s.Campaign(election.RoleConfig{Role: role, While: while, Lead: lead})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func leads(t *testing.T, s *election.Session, role string) *election.Election {
	t.Helper()
	e := candidate(t, s, role, nil)
	natstest.Eventually(t, "it leads "+role, time.Minute, func() (bool, string) { return e.IsLeader(), "" })
	return e
}

// shown are the series, by name and labels.
func shown(t *testing.T, reg *prometheus.Registry) map[string]float64 {
	t.Helper()
	natstest.Settle(t)
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := []string{f.GetName()}
			for _, l := range m.GetLabel() {
				if l.GetName() != "bucket" {
					labels = append(labels, l.GetValue())
				}
			}
			all[strings.Join(labels, " ")] = m.GetGauge().GetValue()
		}
	}
	return all
}

// TestCollector: a role that was left, one that cannot be read and one that is paused for all are
// not shown as vacant, those that wait to lead another role are shown apart, members and workers
// are told apart, findings leave when they are old, and all leaves with the connection.
func TestCollector(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := member(t, s, "a", false)
		member(t, s, "a", true) // a worker may have the same name
		leads(t, a, "billing")
		leads(t, a, "held")
		leads(t, a, "other")
		b := member(t, s, "b", false)
		candidate(t, b, "tied", candidate(t, b, "other", nil))
		if err := leads(t, a, "left").Stop(); err != nil {
			t.Fatal(err)
		}
		nc := natstest.Connect(t, s)
		if _, err := nc.Request("$KV.roles.c.role.broken", []byte("garbage"), time.Second); err != nil {
			t.Fatal(err)
		}
		link := s.Link()
		o, err := election.Observe(t.Context(), natstest.Connect(t, s, link.Options()...), "roles", election.WithWorkers())
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		if err := errors.Join(o.DrainZone(t.Context(), "dc1", election.Steering{}),
			o.PauseRole(t.Context(), "held", election.Steering{})); err != nil {
			t.Fatal(err)
		}
		c, reg := New(o, 10*time.Second), prometheus.NewPedanticRegistry()
		if err := reg.Register(c); err != nil {
			t.Fatal(err)
		}
		if problems, err := testutil.GatherAndLint(reg); err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
		var list findings.List
		list.Add(findings.Critical, "a", "b", "c")
		list.OK("d", "e")
		fills := []Fill{{"KV_roles", LimitBytes, 0.5}}
		c.Examined(Examined{list, fills}, time.Now().Add(time.Minute))
		natstest.Eventually(t, "the paused role is vacant", time.Minute, func() (bool, string) {
			info, _ := o.Role("held")
			return info.Vacant, info.Reason
		})
		got := shown(t, reg)
		for name, want := range map[string]float64{
			"roles_leader_info a billing": 1, "roles_vacant_seconds billing": 0, "roles_vacant_seconds left": -1,
			"roles_vacant_seconds broken": -1, "roles_candidates billing": 1, "roles_candidates left": 0,
			"roles_member_ttl_seconds candidate a": 2, "roles_member_ttl_seconds worker a": 2,
			"roles_doctor_findings critical": 1, "roles_doctor_findings warning": 0, "roles_doctor_findings ok": -1,
			"roles_paused_seconds billing": -1, "roles_vacant_seconds held": -1, "roles_candidates held": 0,
			"roles_waiting tied": 1, "roles_waiting billing": -1,
			"roles_stream_used_ratio bytes KV_roles": 0.5, "roles_view_age_seconds": 0,
		} {
			if v, ok := got[name]; ok != (want >= 0) || ok && v != want {
				t.Errorf("%s = %v (%t), want %v", name, v, ok, want)
			}
		}
		time.Sleep(2 * time.Minute)
		if got := shown(t, reg); got["roles_zone_drained_seconds dc1"] < 120 || got["roles_paused_seconds held"] < 120 {
			t.Errorf("two minutes after they were told: %v", got)
		}
		if got := shown(t, reg); got["roles_leader_info a billing"] != 1 || len(got) == 0 {
			t.Errorf("two minutes later: %v", got)
		} else if _, there := got["roles_doctor_findings critical"]; there {
			t.Errorf("findings of two minutes ago: %v", got)
		}
		link.Cut()
		time.Sleep(2 * time.Minute)
		if got := shown(t, reg); len(got) != 1 || got["roles_view_age_seconds"] < 10 {
			t.Errorf("without a connection: %v", got)
		}
		link.Heal()
	})
}

// TestDocumentedNames: the package's documentation names every metric, and no other.
func TestDocumentedNames(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "\n//\n//\t")
	table, _, _ = strings.Cut(table, "\n//\n// #")
	documented := regexp.MustCompile(`(?m)^(?://\t)?(roles_[a-z_]+)`).FindAllStringSubmatch(table, -1)
	var names, exist []string
	for _, m := range documented {
		names = append(names, m[1])
	}
	descs := make(chan *prometheus.Desc, 100)
	New(nil, 0).Describe(descs)
	close(descs)
	for d := range descs {
		exist = append(exist, regexp.MustCompile(`fqName: "([^"]+)"`).FindStringSubmatch(d.String())[1])
	}
	if !slices.Equal(names, exist) {
		t.Errorf("documented are\n%q, there are\n%q", names, exist)
	}
}

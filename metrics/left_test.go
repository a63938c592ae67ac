package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/rolemanager/rolemanager/event"
)

// seriesOf counts the series of a role.
func seriesOf(t *testing.T, reg *prometheus.Registry, role string) (n int) {
	t.Helper()
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				if (l.GetName() == "role" || l.GetName() == "name") && l.GetValue() == role {
					n++
				}
			}
		}
	}
	return n
}

// TestSeriesOfALeftRoleGo: nothing of a role is left when the last who shares its series has left
// it, and the series of other roles stay.
func TestSeriesOfALeftRoleGo(t *testing.T) {
	for name, opts := range map[string][]Option{"shared": nil, "labeled": {WithInstanceLabel(), WithKubernetesNames()}} {
		m, reg := newMetrics(t, opts...)
		first, second := meta, meta
		second.Instance = "node-2"
		for _, e := range everything(first) {
			m.Observe(e)
		}
		m.Observe(event.RoleJoined{Meta: second, Role: "scheduler"})
		all, others := seriesOf(t, reg, "scheduler"), seriesOf(t, reg, "other")
		m.Observe(event.RoleLeft{Meta: first, Role: "scheduler"})
		if n := seriesOf(t, reg, "scheduler"); opts == nil && n != all || opts != nil && n != 3 {
			t.Errorf("%s: %d of %d series when one of two has left", name, n, all)
		}
		m.Observe(event.RoleLeft{Meta: second, Role: "scheduler"})
		if n := seriesOf(t, reg, "scheduler"); all < 10 || n != 0 {
			t.Errorf("%s: %d of %d series when both have left", name, n, all)
		}
		if n := seriesOf(t, reg, "other"); n == 0 || n != others {
			t.Errorf("%s: another role has %d series, it had %d", name, n, others)
		}
		m.Observe(event.LeaderChanged{Meta: first, Role: "scheduler", Leader: "x", Epoch: 1})
		if n := seriesOf(t, reg, "scheduler"); n != 0 {
			t.Errorf("%s: news of a role that was left makes %d series", name, n)
		}
	}
}

// TestStuckEnds: the gauge of stuck work is 0 again when the work has returned.
func TestStuckEnds(t *testing.T) {
	m, _ := newMetrics(t)
	stuck := func() float64 { return testutil.ToFloat64(m.election.stuck.WithLabelValues("r", "roles")) }
	m.Observe(event.RoleJoined{Meta: meta, Role: "r"})
	m.Observe(event.RoleStuck{Meta: meta, Role: "r"})
	if stuck() != 1 {
		t.Error("not stuck")
	}
	m.Observe(event.RoleDrained{Meta: meta, Role: "r"})
	if stuck() != 0 {
		t.Error("stuck after the work has returned")
	}
}

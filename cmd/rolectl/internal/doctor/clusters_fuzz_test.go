package doctor

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzServers: whatever servers answer about themselves, the doctor says something about clusters
// for every server that it has read, and never warns of one server alone.
func FuzzServers(f *testing.F) {
	for _, text := range []string{
		`{"server":{"name":"n0","cluster":"east","ver":"2.15.2","jetstream":true},"data":{"num_connections":1}}`,
		`{"server":{"name":"n0","jetstream":true},"data":{"meta_cluster":{"leader":"n1","cluster_size":2,"replicas":[{"name":"n1"}]}}}`,
		`{"server":{"name":"n0"},"data":{"meta_cluster":{"leader":"","cluster_size":-1,"replicas":[{}]}}}`,
		`{"server":{"name":"n0"},"error":{"code":500}}`, `{"server":{"name":""}}`, `{"server":[]}`, `{}`, `null`, `[]`, ``,
	} {
		f.Add([]byte(text), []byte(`{"server":{"name":"n9","cluster":"west","jetstream":true}}`))
	}
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var all []systemServer
		heap.Bounded(t, len(one)+len(two), func() {
			for _, data := range [][]byte{one, two} {
				if s, ok := readServer(data); ok {
					all = append(all, s)
				}
			}
		})
		if len(all) == 0 {
			return
		}
		var x examination
		x.judgeClusters(all, groupOf(all))
		if len(x.findings) != 1 || len(all) == 1 && x.worst() != healthy {
			t.Fatalf("%q, %q: %+v", one, two, x.findings)
		}
		x.judgeMeta(all, groupOf(all))
		if len(x.findings) > 2 || x.lost != (x.worst() == critical) {
			t.Fatalf("%q, %q: %+v", one, two, x.findings)
		}
	})
}

// TestJudgeClusters: only a cluster with exactly half of the servers is a danger.
func TestJudgeClusters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sizes map[string]int
		total int // of the meta group, 0 if nobody has seen it
		want  severity
	}{
		"one server":               {map[string]int{"": 1}, 0, healthy},
		"one cluster":              {map[string]int{"east": 3}, 3, healthy},
		"two halves":               {map[string]int{"east": 3, "west": 3}, 0, warning},
		"a half and two quarters":  {map[string]int{"east": 2, "west": 1, "south": 1}, 4, warning},
		"three and two singles":    {map[string]int{"east": 3, "west": 1, "south": 1}, 5, healthy},
		"three thirds":             {map[string]int{"east": 2, "west": 2, "south": 2}, 6, healthy},
		"a majority":               {map[string]int{"east": 3, "west": 2}, 0, healthy},
		"halves of what has heard": {map[string]int{"east": 2, "west": 2}, 5, healthy},
	} {
		var all []systemServer
		for cluster, n := range c.sizes {
			for range n {
				all = append(all, systemServer{Name: "n", Cluster: cluster, JetStream: true})
			}
		}
		var group *metaGroup
		if c.total > 0 {
			group = &metaGroup{Leader: "n", Size: c.total}
		}
		var f findings
		if f.judgeClusters(all, group); f.worst() != c.want || len(f) != 1 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

package doctor

import (
	"testing"

	"github.com/rolemanager/rolemanager/internal/findings"
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
		if len(x.List) != 1 || len(all) == 1 && x.Worst() != findings.OK {
			t.Fatalf("%q, %q: %+v", one, two, x.List)
		}
		x.judgeMeta(all, groupOf(all))
		if len(x.List) > 2 || x.lost != (x.Worst() == findings.Critical) {
			t.Fatalf("%q, %q: %+v", one, two, x.List)
		}
	})
}

// TestJudgeClusters: only a cluster with exactly half of the servers is a danger.
func TestJudgeClusters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sizes map[string]int
		total int // of the meta group, 0 if nobody has seen it
		want  findings.Level
	}{
		"one server":               {map[string]int{"": 1}, 0, findings.OK},
		"one cluster":              {map[string]int{"east": 3}, 3, findings.OK},
		"two halves":               {map[string]int{"east": 3, "west": 3}, 0, findings.Warning},
		"a half and two quarters":  {map[string]int{"east": 2, "west": 1, "south": 1}, 4, findings.Warning},
		"three and two singles":    {map[string]int{"east": 3, "west": 1, "south": 1}, 5, findings.OK},
		"three thirds":             {map[string]int{"east": 2, "west": 2, "south": 2}, 6, findings.OK},
		"a majority":               {map[string]int{"east": 3, "west": 2}, 0, findings.OK},
		"halves of what has heard": {map[string]int{"east": 2, "west": 2}, 5, findings.OK},
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
		var f examination
		if f.judgeClusters(all, group); f.Worst() != c.want || len(f.List) != 1 {
			t.Errorf("%s: %+v", name, f.List)
		}
	}
}

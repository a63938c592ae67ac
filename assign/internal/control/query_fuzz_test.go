package control

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
)

// FuzzQuestions: whatever somebody asks a scheduler, a page of the list holds no more than it may,
// nothing that the filter leaves out, and the pages come to an end.
func FuzzQuestions(f *testing.F) {
	for _, text := range []string{
		`{"op":"list"}`, `{"op":"list","filter":{"states":["pending","dead"],"kinds":["k1"],"prefix":"t"},"cursor":2,"limit":1}`,
		`{"op":"list","cursor":18446744073709551615,"limit":-1}`, `{"op":"list","cursor":43709551615,"limit":1}`,
		`{"op":"status","id":"t1"}`, `{"op":"watch","filter":null}`, `[]`, ``,
		`{"op":"declare","id":"k","from":{"instance":"w","session":200,"epoch":7},"record":{"v":1,"declared":{"version":2,"policy":{}}}}`,
	} {
		f.Add([]byte(text))
	}
	const open, epoch = 20, 7
	scheduler := tasks.NewScheduler(tasks.SchedulerConfig{Epoch: epoch})
	for i := range open {
		kind := []string{"k0", "k1"}[i%2]
		scheduler.Step(0, tasks.Submitted{
			ID: "t" + strings.Repeat("x", i), Revision: uint64(i + 1),
			Policy: &tasks.Policy{Kind: kind}, Stored: time.Unix(1, 0),
		}, nil)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var q Query
		var ok bool
		var filter tasks.Filter
		var limit int
		heap.Bounded(t, min(len(b), MaxQuery), func() {
			if q, ok = ReadQuery(b); ok {
				filter, limit = q.Page()
			}
		})
		if !ok {
			return
		}
		for seen, cursor := 0, q.Cursor; ; {
			var page []tasks.TaskInfo
			var next uint64
			heap.Bounded(t, 0, func() { page, next = scheduler.List(0, cursor, filter, limit) }) // few tasks are open
			if len(page) > limit || len(page) > MaxPage {
				t.Fatalf("%s: a page of %d", b, len(page))
			}
			for _, g := range page {
				if !strings.HasPrefix(g.ID, filter.Prefix) || len(filter.Kinds) > 0 && !slices.Contains(filter.Kinds, g.Kind) ||
					len(filter.States) > 0 && !slices.Contains(filter.States, g.State) {
					t.Fatalf("%s: %+v", b, g)
				}
			}
			ours := cursor>>32 == epoch // under the cursor of another scheduler the listing begins again
			if seen += len(page); seen > open || ours && next != 0 && next <= cursor {
				t.Fatalf("%s: %d tasks up to cursor %d, and on from %d", b, seen, cursor, next)
			}
			if cursor = next; cursor == 0 {
				return
			}
		}
	})
}

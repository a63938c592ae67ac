package assign

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/propertytests/fuzz/heap"
)

// FuzzQuestions: whatever somebody asks a scheduler, a page of the list holds no more than it may, nothing that the filter leaves
// out, and the pages come to an end.
func FuzzQuestions(f *testing.F) {
	for _, text := range []string{
		`{"op":"list"}`, `{"op":"list","filter":{"states":["pending","dead"],"kinds":["k1"],"prefix":"t"},"cursor":2,"limit":1}`,
		`{"op":"list","cursor":18446744073709551615,"limit":-1}`, `{"op":"status","id":"t1"}`, `{"op":"watch","filter":null}`, `[]`, ``,
	} {
		f.Add([]byte(text))
	}
	const open = 20
	books := tasks.NewScheduler(tasks.SchedulerConfig{Epoch: 7})
	for i := range open {
		kind := []string{"k0", "k1"}[i%2]
		books.Step(0, tasks.Submitted{ID: "t" + strings.Repeat("x", i), Revision: uint64(i + 1), Policy: &tasks.Policy{Kind: kind}, Stored: time.Unix(1, 0)}, nil)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var q query
		var ok bool
		var filter tasks.Filter
		var limit int
		heap.Bounded(t, min(len(b), maxQuery), func() {
			if q, ok = readQuery(b); ok {
				filter, limit = q.page()
			}
		})
		if !ok {
			return
		}
		for seen, cursor := 0, q.Cursor; ; {
			var page []tasks.Glance
			var next uint64
			heap.Bounded(t, 0, func() { page, next = books.List(0, cursor, filter, limit) }) // few tasks are open
			if len(page) > limit || len(page) > maxPage {
				t.Fatalf("%s: a page of %d", b, len(page))
			}
			for _, g := range page {
				if !strings.HasPrefix(g.ID, filter.Prefix) || len(filter.Kinds) > 0 && !slices.Contains(filter.Kinds, g.Kind) ||
					len(filter.States) > 0 && !slices.Contains(filter.States, g.State) {
					t.Fatalf("%s: %+v", b, g)
				}
			}
			if seen += len(page); seen > open || next != 0 && next <= cursor {
				t.Fatalf("%s: %d tasks up to cursor %d, and on from %d", b, seen, cursor, next)
			}
			if cursor = next; cursor == 0 {
				return
			}
		}
	})
}

// FuzzWatched: whatever is said to who watches a task, as an answer or as an event, its events stay bounded and of that task, and
// none of them is its end, which only the stream tells; hearing it takes memory in proportion.
func FuzzWatched(f *testing.F) {
	for _, text := range []string{
		`{"ok":true,"task":{"id":"t","state":"running","worker":"w","attempts":1}}`, `{"id":"t","state":"retrying","attempts":2,"progress":0.5}`,
		`{"ok":true,"task":{"id":"t","state":"succeeded"}}`, `{"id":"other","state":"running"}`, `{"ok":false,"error":"no"}`, `{"ok":true}`, ``,
	} {
		f.Add([]byte(text), []byte(text), true)
	}
	f.Fuzz(func(t *testing.T, a, b []byte, event bool) {
		var w *watching
		heap.Bounded(t, 2*len(a)+len(b), func() {
			w = &watching{id: "t", inbox: "answers"}
			for i, data := range [][]byte{a, b, a} {
				subject := w.inbox
				if event != (i == 1) {
					subject = "event"
				}
				w.hear(&nats.Msg{Subject: subject, Data: data})
			}
		})
		if w.over || len(w.queue) > 3 {
			t.Fatalf("%s, %s: over: %v, %v", a, b, w.over, w.queue)
		}
		for _, e := range w.queue {
			if e.Type == EventEnded || e.Task.State.Terminal() || e.Task.ID != w.id {
				t.Fatalf("%s, %s: %+v", a, b, e)
			}
		}
	})
}

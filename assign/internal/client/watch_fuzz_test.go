package client

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// seen is an event as a test receives it.
type seen struct {
	what EventType
	Status
}

func asSeen(what EventType, s *Status) seen { return seen{what, *s} }

// FuzzWatched: a client that watches a task takes any bytes as an answer or as an event. Its events
// stay bounded and of that task. None of them is the task's end, which only the stream tells.
// Hearing the bytes takes memory in proportion.
func FuzzWatched(f *testing.F) {
	for _, text := range []string{
		`{"ok":true,"task":{"id":"t","state":"running","worker":"w","attempts":1}}`, `{"id":"t","state":"retrying","attempts":2,"progress":0.5}`,
		`{"ok":true,"task":{"id":"t","state":"succeeded"}}`, `{"id":"other","state":"running"}`, `{"ok":false,"error":"no"}`, `{"ok":true}`, ``,
	} {
		f.Add([]byte(text), []byte(text), true)
	}
	f.Fuzz(func(t *testing.T, a, b []byte, event bool) {
		var w *watching[seen]
		heap.Bounded(t, 2*len(a)+len(b), func() {
			w = &watching[seen]{of: asSeen, id: "t", inbox: "answers"}
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
			if e.what == EventEnded || terminal(e.State) || e.ID != w.id {
				t.Fatalf("%s, %s: %+v", a, b, e)
			}
		}
	})
}

package client

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/naming"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
)

// FuzzFeed: a client that follows all tasks takes any bytes as news or as an answer. It tells of
// tasks with an id only, remembers open ones only, and takes memory in proportion.
func FuzzFeed(f *testing.F) {
	for _, text := range []string{
		`{"ok":true,"cursor":7,"tasks":[{"id":"t","state":"running","worker":"w","attempts":1},{"id":"u","state":"dead","error":"no"}]}`,
		`{"ok":true,"cursor":8,"tasks":[{"id":"t","state":"succeeded"},{"id":"*","state":"pending"}]}`, `{"ok":true,"cursor":1}`,
		`{"ok":false,"error":"no"}`, `{"ok":true,"tasks":[{}]}`, ``,
	} {
		f.Add([]byte(text), []byte(text), true)
	}
	f.Fuzz(func(t *testing.T, a, b []byte, news bool) {
		var w *feed[seen]
		heap.Bounded(t, 2*(len(a)+len(b)), func() {
			w = &feed[seen]{of: asSeen, inbox: "answers", known: map[string]seenTask{}}
			for i, data := range [][]byte{a, b, a} {
				subject := w.inbox
				if news != (i == 1) {
					subject = "news"
				}
				w.hear(t.Context(), &nats.Msg{Subject: subject, Data: data})
			}
		})
		for _, e := range w.queue {
			if (e.what == EventMissed) != (e.ID == "") || e.ID != "" && !naming.Valid(e.ID) {
				t.Fatalf("%s, %s: %+v", a, b, e)
			}
		}
		for id, k := range w.known {
			if terminal(k.state) || !naming.Valid(id) {
				t.Fatalf("%s, %s: %q is remembered as %+v", a, b, id, k)
			}
		}
	})
}

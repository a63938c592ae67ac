package election

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/mailbox"
	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol"
)

// FuzzRequest: any control request that comes several times is refused each time, or handed to the
// machine once. It is answered as often as it came. On the subject of candidates, only the question
// whether we are ready is handed on.
func FuzzRequest(f *testing.F) {
	for _, q := range []protocol.Request{
		{ID: "1", Op: protocol.OpStepDown, Role: "r", Epoch: 7},
		{ID: "1", Op: protocol.OpReady, Role: "r"},
		{ID: "1", Op: protocol.OpTransfer, Role: "r", Target: "b"},
		{ID: "1", Op: "dance"},
		{Op: protocol.OpReady, Role: "r"},
		{},
	} {
		data, err := json.Marshal(q)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true)
		f.Add(data, false)
	}
	for _, text := range []string{``, `null`, `[]`, `{"id":1}`, `{"ID":"1","OP":"ready"}`, `{"id":"1","id":"2","op":"ready"}`, `{"id":"1","op":"ready"}{}`, `{"id":"1","epoch":-1}`, `{"id":"` + strings.Repeat("x", maxRequest) + `"}`} {
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, readyOnly bool) {
		c := &control{
			l: &loop{s: &Session{box: mailbox.New[message]()}}, out: mailbox.New[reply](),
			answer: map[string]*protocol.Response{},
			owed:   map[string][]*nats.Msg{},
		}
		came := 0
		comes := func() {
			c.receive(&nats.Msg{Data: data}, readyOnly)
			came++
		}
		heap.Bounded(t, min(len(data), maxRequest), comes)
		comes()
		asked := c.l.s.box.Drain(nil)
		for _, m := range asked {
			q := m.event.(protocol.Asked).Request
			if q.ID == "" || len(data) > maxRequest || readyOnly && q.Op != protocol.OpReady {
				t.Fatalf("%q, ready only %t: %+v is asked", data, readyOnly, q)
			}
			m.answer(protocol.Done{ID: m.id})
			comes()
		}
		answered, done := c.out.Drain(nil), 0
		for _, r := range answered {
			if r.response.OK {
				done++
			} else if r.response.Error == "" {
				t.Fatalf("%q is refused, and nothing says why", data)
			}
		}
		if n := len(asked); n > 1 || len(answered) != came || done != n*came || len(c.l.s.box.Drain(nil)) > 0 ||
			len(c.owed) > 0 || len(c.answer) != n {
			t.Fatalf("%q came %d times: handed on %d times, answered %d times, %d of them as done; %d are remembered", data,
				came, n,
				len(answered), done, len(c.answer))
		}
	})
}

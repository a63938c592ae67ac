package assign_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestForeignRecordsHarmNobody: anybody who may publish there can store anything. A record that is
// not ours is left as it is and reported. Nothing of it is handed out, and nothing is tried again
// and again because of it.
func TestForeignRecordsHarmNobody(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		r := newRoll()
		k := assign.NewKind[time.Duration, string]("plain")
		a := newNode(t, s, "a", r.handle(t, "a", k))
		leader(t, a)
		c := New(t, s)
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, k, "before", 0)}, a)
		good := record(t, a.nc, "seal").Sequence
		task := `{"v":1,"kind":"plain","attempts":1,"backoff_ms":1,"max_backoff_ms":1,"retention_s":60}`
		foreign := []struct {
			key    string
			header nats.Header
			data   string
		}{
			{key: "q.none"},
			{key: "q.garbage", header: nats.Header{"Task": {"{"}}},
			{key: "q.later", header: nats.Header{"Task": {strings.Replace(task, `"v":1`, `"v":2`, 1)}}},
			{key: "q.na+me", header: nats.Header{"Task": {task}}},
			{key: "q.key", header: nats.Header{"Task": {task}, "Task-Keys": {`{"unique":"a b.>"}`}}},
			{key: "q.long", header: nats.Header{"Task": {task}, "Task-Keys": {`{"limit":"` + strings.Repeat("x", 300) + `"}`}}},
			{key: "t.before", data: "{"},
			{key: "t.na+me", data: `{"v":1,"epoch":1,"attempt":1}`},
			{key: "c.na+me", data: "x"},
			{key: "x.before", data: "{"},
			{key: "x.na+me", data: `{"v":1}`},
			{key: "u.na+me", data: `{"v":1,"task":"gone"}`},
			{key: "u.garbage", data: "["},
			{key: "p.plain", data: `{"v":2}`},
			{key: "d.a", data: "no"},
			{key: "r.na+me", data: `{"v":1}`},
			{key: "k.tick", data: `{"v":1}`},
			{key: "k.na+me", data: `{"v":1,"tick":"2000-01-01T00:00:00Z"}`},
		}
		for _, x := range foreign {
			if _, err := a.nc.RequestMsg(&nats.Msg{Subject: stored + x.key, Header: x.header, Data: []byte(x.data)},
				5*time.Second); err != nil {
				t.Fatal(x.key, err)
			}
		}
		time.Sleep(time.Minute)
		waitAll(t, []*assign.Pending[string]{submitNamed(t, c, k, "after", 0)}, a)
		if got := fmt.Sprint(r.started()); got != "[before after]" {
			t.Errorf("started were %s", got)
		}
		if now := record(t, a.nc, "seal").Sequence; now != good {
			t.Errorf("the seal was renewed, from %d to %d: a write has failed", good, now)
		}
		ignored := map[string]bool{}
		a.count(func(e event.Event) bool {
			if x, ok := e.(event.RecordIgnored); ok {
				ignored[x.Key] = true
			}
			return false
		})
		for _, x := range foreign {
			if !ignored[stored+x.key] {
				t.Errorf("%s was not reported", x.key)
			}
		}
	})
}

package worker

import (
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natstest/heap"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// FuzzSettled: any bytes may come where answers to a worker's reports are awaited. Results are
// settled only by an answer to their own report that has a word for each of them, and at most once.
// Otherwise the report stays under way.
func FuzzSettled(f *testing.F) {
	for n := range 4 {
		f.Add("in.7", frame.EncodeSettled(make([]bool, n)))
	}
	two := frame.EncodeSettled([]bool{true, false})
	for _, subject := range []string{"in.8", "in.0", "in.", "7", "in.07", "in.-7", "in.zzzzzzzzzzzzzzz", "other.7"} {
		f.Add(subject, two)
	}
	f.Add("in.7", two[:len(two)-1])
	f.Add("in.7", append(two, 0))
	f.Add("in.7", []byte(nil))
	for _, subject := range []string{"in.-0", "in.-1", "in.--1", "in.-", "in.-99999999999999999999"} {
		f.Add(subject, []byte(`{"ok":false,"error":"no","differs":true}`))
	}
	for _, subject := range []string{"in.=", "in.=0", "in.=zz", "in.=-1", "in.=zzzzzzzzzzzzzzz"} {
		f.Add(subject, frame.EncodeSettled([]bool{true}))
	}
	f.Fuzz(func(t *testing.T, subject string, data []byte) {
		o := newOutbox("in.")
		list := []item{
			{held: tasks.Held{ID: "a", Attempt: tasks.Attempt{Epoch: 9, N: 1}}},
			{held: tasks.Held{ID: "b", Attempt: tasks.Attempt{Epoch: 9, N: 1}}},
		}
		o.flights[7], o.flights[8] = &flight{list: list}, &flight{list: list[:1]}
		var a acknowledged
		most := 256<<10 + 64*uint64(len(data))
		if heap.Took(most, func() { a = o.answer(&nats.Msg{Subject: subject, Data: data}) }) > most {
			t.Errorf("more than %d bytes for %d", most, len(data))
		}
		if said, ok := o.answerOf(&nats.Msg{Subject: subject, Data: data}); ok {
			w := worker{declarations: declaredKinds{list: []*declaring{{settled: true}}}}
			w.declared(said) // of one that is settled, or of none
		}
		if c, ok := o.confirmation(&nats.Msg{Subject: subject, Data: data}); ok && !strings.HasPrefix(subject, "in.=") {
			t.Errorf("%s confirms epoch %d", subject, c.epoch)
		}
		awaited := 0
		if f := o.flights[a.number]; f != nil {
			awaited = len(f.list)
		}
		settled := o.acknowledge(a)
		if right := a.ok && awaited > 0 && len(a.stale) == awaited; right != (len(settled) > 0) ||
			right && len(settled) != awaited || right != (len(o.flights) == 1) {
			t.Fatalf("%q, %x: %+v settles %v of %d, and %d reports are left", subject, data, a, settled, awaited, len(o.flights))
		}
		if again := o.acknowledge(a); len(settled) > 0 && len(again) > 0 {
			t.Fatalf("settled twice: %v", again)
		}
	})
}

package inventory

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestClockSteps: a record with an earlier time than the one before it is a step back of the
// server's clock. A server in this process cannot step its clock, so the records with earlier times
// are applied directly.
func TestClockSteps(t *testing.T) {
	t.Parallel()
	nc := natstest.Connect(t, natstest.Server(t), nats.Timeout(time.Minute))
	kv := newBucket(t, nc)
	if _, err := kv.Put(t.Context(), "c.member.a", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	l, err := OpenRecords(t.Context(), nc, natskv.Reach{}, "roles", false, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, ok := l.Record("c.member.a")
	if worst := l.WorstClockStep(); !ok || worst != (ClockStep{}) {
		t.Fatalf("record read: %v; step %+v", ok, worst)
	}
	for i, back := range []time.Duration{time.Second, time.Minute, time.Millisecond} {
		l.apply(natskv.Entry{
			Key: "c.member.b", Value: []byte("{}"), Revision: r.Revision + 1 + uint64(i),
			Time: r.Time.Add(-back),
		})
	}
	if worst := l.WorstClockStep(); worst.Key != "c.member.b" || worst.Back != time.Minute-time.Second {
		t.Errorf("worst step: %+v", worst)
	}
}

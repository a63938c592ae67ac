package scheduler

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/ahead"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// TestReadAlong: what is wanted of a portion is given at once, what is awaited when it comes goes
// into its frame, and the rest is there for later frames, without the records of tasks that have
// ended. One that is missing in it is read by itself.
func TestReadAlong(t *testing.T) {
	var alone []uint64
	var given []any
	s := &stretch{
		one: func(w want) { alone = append(alone, w.revision) },
		got: func(m any) { given = append(given, m) },
	}
	entry := func(revision uint64) natskv.Entry {
		return natskv.Entry{Key: record.QueueKey, Revision: revision, Value: fmt.Append(nil, revision)}
	}
	ended := entry(15)
	ended.Header = nats.Header{record.HeaderOutcome: {"x"}}
	later := s.take([]ahead.Want{{Revision: 10}, {Revision: 11}, {Revision: 12}, {Revision: 30}},
		[]natskv.Entry{entry(10), entry(12), entry(13), entry(14), ended})
	if len(later) != 1 || later[0].Revision != 30 || !slices.Equal(alone, []uint64{11}) || len(given) != 3 {
		t.Fatalf("later %v, alone %v, given %v", later, alone, given)
	}
	portion := given[2].(readAlong)
	if len(portion.entries) != 3 || portion.inputs != 4 {
		t.Fatalf("%d others, and %d inputs, want 3 and 4", len(portion.entries), portion.inputs)
	}

	f := &assignFrame{list: make([]frame.Task, 2), missing: map[uint64][]int{13: {0}, 30: {1}}}
	p := newPayloads()
	d := &dispatcher{payloads: p, waiting: map[uint64]*assignFrame{1: f}}
	d.readAlong(portion)
	if len(f.missing) != 1 || string(f.list[0].Payload) != "13" {
		t.Errorf("%v is missing, and there is %q", f.missing, f.list[0].Payload)
	}
	for revision, there := range map[uint64]bool{13: false, 14: true, 15: false} {
		if _, ok := p.take("a", revision); ok != there {
			t.Errorf("%d: %t", revision, ok)
		}
	}
	if batch := p.inputs.Drain(nil); len(batch) != 1 || batch[0] != (ahead.Want{Seen: 1, Taken: 1}) {
		t.Errorf("more than half of it is used, and the next one is wanted as %v", batch)
	}
}

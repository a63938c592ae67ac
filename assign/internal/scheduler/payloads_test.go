package scheduler

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// TestPayloadRoom: inputs of tasks that wait take no more memory than there is room for, whatever
// happens to them. An input that does not fit is read when its task is handed out.
func TestPayloadRoom(t *testing.T) {
	p := &payloads{kept: map[string]kept{}}
	const size = 1 << 20
	input := payload{data: make([]byte, size)}
	fits := payloadRoom / input.size()
	for i := range 2 * fits {
		p.keep(fmt.Sprint(i), 1, input)
	}
	if len(p.kept) != fits || p.bytes != fits*input.size() {
		t.Fatalf("%d inputs of %d bytes are kept, %d bytes in all, want %d", len(p.kept), size, p.bytes, fits)
	}
	p.keep("0", 2, payload{data: make([]byte, size/2)}) // submitted again, and smaller
	if _, ok := p.take("0", 1); ok {
		t.Error("the input of a submission that is none any more")
	}
	if x, ok := p.take("0", 2); !ok || len(x.data) != size/2 {
		t.Errorf("%d bytes, %t", len(x.data), ok)
	}
	if _, ok := p.take("0", 2); ok {
		t.Error("it was given away before")
	}
	p.drop("1")
	p.drop("1")
	if p.bytes != (fits-2)*input.size() {
		t.Errorf("%d bytes, want those of %d inputs", p.bytes, fits-2)
	}
	p.keep("late", 1, input)
	if _, ok := p.take("late", 1); !ok {
		t.Error("there is room, and it is not kept")
	}
}

// TestReadAlong: an input that is wanted of a portion is given at once, and the others of it are
// there for later frames. One that its frame has not seen, though it was in a portion, comes with
// that portion; any other one is read again.
func TestReadAlong(t *testing.T) {
	p := newPayloads()
	var alone []uint64
	var given []any
	s := &stretch{
		one: func(w want) { alone = append(alone, w.revision) },
		got: func(m any) { given = append(given, m) },
	}
	entry := func(revision uint64) natskv.Entry {
		return natskv.Entry{Revision: revision, Value: fmt.Append(nil, revision)}
	}
	ended := entry(15)
	ended.Header = nats.Header{record.HeaderOutcome: {"x"}}
	later := s.take([]want{{revision: 10}, {revision: 11}, {revision: 12}, {revision: 30}},
		[]natskv.Entry{entry(10), entry(12), entry(13), entry(14), ended})
	if len(later) != 1 || later[0].revision != 30 || !slices.Equal(alone, []uint64{11}) || len(given) != 3 {
		t.Fatalf("later %v, alone %v, given %v", later, alone, given)
	}
	portion := given[2].(readAlong)
	if len(portion.entries) != 3 {
		t.Fatalf("%d others, want 3", len(portion.entries))
	}

	alone = nil
	s.read(t.Context(), []want{{revision: 13, seen: 0}})
	p.found(portion)
	if x, ok := p.take("a", 13); !ok || string(x.data) != "13" {
		t.Errorf("%q, %t", x.data, ok)
	}
	if _, ok := p.take("a", 13); ok {
		t.Error("it was given away before")
	}
	if _, ok := p.take("b", 15); ok {
		t.Error("the record of a task that has ended")
	}
	s.read(t.Context(), []want{{revision: 13, seen: p.portion}, {revision: 14, seen: 0}})
	if !slices.Equal(alone, []uint64{13}) {
		t.Errorf("%v are read again, want 13", alone)
	}
	for range 2 {
		if _, ok := p.ahead[14]; !ok && p.before[14].data == nil {
			t.Error("it was dropped too early")
		}
		p.found(readAlong{portion: p.portion + 1})
	}
	if _, ok := p.take("c", 14); ok {
		t.Error("it is kept for ever")
	}
}

// TestReadingContinues: a portion is not wasted because frames were sent before it came, and an
// input that a frame awaits when its portion comes counts as taken from it.
func TestReadingContinues(t *testing.T) {
	s := &stretch{reading: &natskv.Reading{}, at: 600, portion: 2, along: map[uint64]bool{}}
	for i := range portionMost {
		s.along[uint64(i)] = true
	}
	if !s.ready(t.Context(), []want{{revision: 601, seen: 1}}) {
		t.Error("the frame had not seen the portion")
	}
	p := newPayloads()
	f := &assignFrame{list: make([]frame.Task, 2), missing: map[uint64]int{5: 0, 6: 1}}
	d := &dispatcher{payloads: p, waiting: map[uint64]*assignFrame{1: f}}
	d.readAlong(readAlong{portion: 1, entries: []natskv.Entry{{Revision: 5}, {Revision: 7}}})
	if p.taken != 1 || len(f.missing) != 1 || len(p.ahead) != 1 {
		t.Errorf("%d taken, %v missing, %v ahead", p.taken, f.missing, p.ahead)
	}
}

package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// TestFramesGetInputsOfOneBundle: two tasks of a frame wait for one record. Each gets its own
// input, and one that is not in the record is left out.
func TestFramesGetInputsOfOneBundle(t *testing.T) {
	h, data := record.EncodeBundle([]record.Member{
		{Index: 0, Task: "{}", Data: []byte("zero")}, {Index: 5, Task: "{}", Data: []byte("five"), Trace: "t", Meta: "m"},
	})
	e := natskv.Entry{Key: "b.c.0.0", Revision: 7, Value: data, Header: nats.Header{h[0].Name: {h[0].Value}}}
	f := &assignFrame{list: make([]frame.Task, 3), missing: map[uint64][]int{7: {0, 1, 2}, 9: {2}}}
	for i, id := range []string{"c.0.5", "c.0.1", "c.0.0"} {
		f.list[i].ID, f.list[i].Revision = id, 7
	}
	f.list[2].Checkpoint = 9
	left := 0
	d := &dispatcher{waiting: map[uint64]*assignFrame{1: f}, put: func(any) { left++ }}
	found := submissionsIn(&e)
	d.fetched(fetched{want: want{revision: 7}}, &found)
	if left != 1 || len(f.list) != 2 || string(f.list[0].Payload) != "five" || f.list[0].Trace != "t" ||
		f.list[0].Header != "m" || string(f.list[1].Payload) != "zero" {
		t.Fatalf("%d are left out, of %+v", left, f.list)
	}
	if !slices.Equal(f.missing[9], []int{1}) || f.waits(7) {
		t.Errorf("%v is missing", f.missing)
	}
}

// readsOf is a scheduler that knows bundles of a hundred members, "c.<i>.0" at revisions from 7 on,
// and stores outcomes in a queue.
func readsOf(t *testing.T, bundle int) (s *scheduler, record func(i int) natskv.Entry) {
	t.Helper()
	q, _ := endsOf(t, 0)
	q.announcer, q.batched = newAnnouncer(nil, nil, 0), true
	s = &scheduler{payloads: newPayloads()}
	s.bundles = newBundleReads(s.payloads)
	s.dispatcher = newDispatcher(q.term, func(any) {}, nil, s.payloads, s.bundles)
	s.drafts = newDrafts(q.term, roomy{}, s.payloads, s.bundles, q)
	indexes := make([]uint16, 100)
	for i := range indexes {
		indexes[i] = uint16(i)
	}
	for i := range bundle {
		name := bundles.ID(fmt.Sprint("c.", i), 0)
		q.rules.Step(1, tasks.Bundled{Name: name, Revision: 7 + uint64(i), Indexes: indexes}, nil)
	}
	return s, func(i int) natskv.Entry { return bundleAt(i, indexes, nil) }
}

// roomy sends nothing, and has room.
type roomy struct{ sender }

func (roomy) MaxPayload() int { return 1 << 20 }

// bundleAt is the i-th bundle. Its members have their indexes as inputs, and then the data.
func bundleAt(i int, indexes []uint16, data []byte) natskv.Entry {
	var members []record.Member
	for _, index := range indexes {
		members = append(members, record.Member{Index: index, Task: "{}", Data: append(fmt.Append(nil, index), data...)})
	}
	h, value := record.EncodeBundle(members)
	return natskv.Entry{
		Key: record.BundleKey + bundles.ID(fmt.Sprint("c.", i), 0), Revision: 7 + uint64(i), Value: value,
		Header: nats.Header{h[0].Name: {h[0].Value}},
	}
}

// frameOf is a frame with members of the first bundle. Their checkpoints never come, so it is not
// sent.
func frameOf(session uint64, indexes ...int) tasks.Assign {
	a := tasks.Assign{Session: session}
	for _, i := range indexes {
		a.List = append(a.List, tasks.Assignment{
			ID: bundles.ID("c.0", i), Revision: 7, Checkpoint: 900 + uint64(i), Policy: &tasks.Policy{},
		})
	}
	return a
}

// deadOf is the outcome of a dead member of the first bundle.
func deadOf(i int) tasks.WriteOutcome {
	return tasks.WriteOutcome{
		ID: bundles.ID("c.0", i), Revision: 7, Write: uint64(i), Guard: 1, Kind: "k",
		Outcome: tasks.Outcome{Status: tasks.StatusDead}, Member: bundles.Member{Revision: 7, Place: i},
	}
}

// inputsOf are the inputs that the outcomes in a queue keep, in order.
func inputsOf(q *writeQueue) (all []string) {
	for i := range q.queue {
		all = append(all, string(q.queue[i].op.Value))
	}
	slices.Sort(all)
	return all
}

// TestABundleIsReadOnceForAll: for frames and for dead tasks, whether they come while it is read or
// after.
func TestABundleIsReadOnceForAll(t *testing.T) {
	s, bundle := readsOf(t, 1)
	s.dispatcher.push(frameOf(1, 0, 1))
	s.dispatcher.push(frameOf(2, 2))
	s.drafts.outcome(deadOf(10))
	s.drafts.outcome(deadOf(11))
	if read := s.payloads.wanted.Drain(nil); len(read) != 1 || read[0] != (want{revision: 7}) {
		t.Fatalf("%+v are read", read)
	}
	s.handle(fetched{want: want{revision: 7}, entry: bundle(0)})
	s.dispatcher.push(frameOf(3, 3))
	s.drafts.outcome(deadOf(12))
	if read := s.payloads.wanted.Drain(nil); len(read) > 0 {
		t.Errorf("%+v are read again", read)
	}
	if x := string(s.dispatcher.waiting[3].list[0].Payload); x != "3" {
		t.Errorf("a frame has %q", x)
	}
	for session := range uint64(3) {
		if f := s.dispatcher.waiting[session+1]; f.waits(7) {
			t.Errorf("session %d waits for the bundle", session+1)
		}
	}
	got := inputsOf(s.drafts.writes)
	if !slices.Equal(got, []string{"10", "11", "12"}) || len(s.drafts.waiting) > 0 {
		t.Errorf("%q are stored, and %d wait", got, len(s.drafts.waiting))
	}
}

// TestWhatADeadTaskWaitsFor: first for its note, whatever is read meanwhile, and then for its own
// bundle. One that is in no bundle has its own record read.
func TestWhatADeadTaskWaitsFor(t *testing.T) {
	s, bundle := readsOf(t, 2)
	noted, other, alone := deadOf(10), deadOf(0), deadOf(0)
	noted.Noted = true
	other.ID, other.Revision, other.Member = bundles.ID("c.1", 5), 8, bundles.Member{Revision: 8, Place: 5}
	alone.ID, alone.Revision, alone.Member = "alone", 9, bundles.Member{}
	for _, e := range []tasks.WriteOutcome{noted, other, alone, deadOf(11)} {
		s.drafts.outcome(e)
	}
	if read := s.payloads.wanted.Drain(nil); !slices.Equal(read, []want{
		{revision: 7, task: noted.ID, draft: 1, note: true},
		{revision: 8},
		{revision: 9, task: "alone", draft: 3},
		{revision: 7},
	}) {
		t.Fatalf("%+v are read", read)
	}
	s.handle(fetched{want: want{revision: 7}, entry: bundle(0)})
	own := natskv.Entry{Key: record.QueueKey + "alone", Revision: 9, Value: []byte("own")}
	s.handle(fetched{want: want{revision: 9}, entry: own}) // of a frame
	if got := inputsOf(s.drafts.writes); !slices.Equal(got, []string{"11"}) {
		t.Fatalf("%q are stored", got)
	}
	if l := s.drafts.waiting[other.ID]; !l.again.IsZero() {
		t.Errorf("%s is to be read again, and its bundle is being read", other.ID)
	}
	s.handle(fetched{
		want:  want{revision: 7, task: noted.ID, draft: 1, note: true},
		entry: natskv.Entry{Revision: 20, Header: nats.Header{record.HeaderHistory: {"earlier"}}},
	})
	last := s.drafts.writes.queue[1].op
	if told := slices.Contains(last.Header, natskv.Field{Name: record.HeaderHistory, Value: "earlier"}); !told ||
		string(last.Value) != "10" || len(s.payloads.wanted.Drain(nil)) > 0 {
		t.Errorf("%+v is stored, or the bundle is read again", last)
	}
	s.handle(fetched{want: want{revision: 8}, entry: bundle(1)})
	s.handle(fetched{want: want{revision: 9, task: "alone", draft: 3}, entry: own})
	if got := inputsOf(s.drafts.writes); !slices.Equal(got, []string{"10", "11", "5", "own"}) {
		t.Errorf("%q are stored", got)
	}
}

// TestABundleThatCannotBeRead is read again a little later, once for all dead tasks that wait for
// it. One that is gone for good leaves them without their inputs.
func TestABundleThatCannotBeRead(t *testing.T) {
	s, bundle := readsOf(t, 1)
	s.drafts.outcome(deadOf(10))
	s.drafts.outcome(deadOf(11))
	s.payloads.wanted.Drain(nil)
	for range 2 * readTries {
		s.handle(fetched{want: want{revision: 7}, err: errors.New("silence")})
		s.drafts.retryDue(time.Now().Add(readPause))
		if read := s.payloads.wanted.Drain(nil); len(read) != 1 {
			t.Fatalf("%+v are read", read)
		}
	}
	s.handle(fetched{want: want{revision: 7}, entry: bundle(0)})
	if got := inputsOf(s.drafts.writes); !slices.Equal(got, []string{"10", "11"}) {
		t.Errorf("%q are stored", got)
	}

	s, _ = readsOf(t, 1)
	s.drafts.outcome(deadOf(10))
	for range readTries {
		s.handle(fetched{want: want{revision: 7}, err: natskv.ErrRecordNotFound})
		s.drafts.retryDue(time.Now().Add(readPause))
	}
	if len(s.drafts.writes.queue) != 1 || len(s.drafts.waiting) > 0 {
		t.Errorf("%d are stored, and %d wait", len(s.drafts.writes.queue), len(s.drafts.waiting))
	}
}

// TestBundlesAreKeptWithinTheirRoom: those that were used last.
func TestBundlesAreKeptWithinTheirRoom(t *testing.T) {
	b := newBundleReads(newPayloads())
	keep := func(i int) (size int) {
		e := bundleAt(i, []uint16{0, 1, 2, 3}, make([]byte, record.MaxMember))
		x := submissionsIn(&e)
		b.keep(&x)
		b.keep(&x)
		return x.size()
	}
	size := keep(0)
	most := bundleRoom / size
	if least := 4 * record.MaxMember; size < least {
		t.Errorf("a bundle of %d bytes is said to take %d", least, size)
	}
	for i := range 3 * most {
		if i > 0 {
			keep(i)
		}
		if _, kept := b.find("c.0.3", 7); !kept {
			t.Fatalf("the one that is used is gone after %d others", i)
		}
		if n := min(i+1, most); len(b.kept) != n || b.order.Len() != n || b.size != n*size {
			t.Fatalf("%d of %d bundles are kept, in %d bytes", len(b.kept), i+1, b.size)
		}
	}
	if _, kept := b.find("c.1.3", 8); kept {
		t.Error("one that nobody uses is kept")
	}
	if b.keep(&submissions{entry: &natskv.Entry{Revision: 1}}); b.kept[1] != nil {
		t.Error("what is not a bundle is kept")
	}
	huge := bundleAt(1, []uint16{0}, make([]byte, bundleRoom))
	x := submissionsIn(&huge)
	if b.keep(&x); b.size > bundleRoom || len(b.kept) != b.order.Len() {
		t.Errorf("%d bytes are kept", b.size)
	}
}

package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign/internal/record"
	"github.com/rolemanager/rolemanager/assign/internal/taskerr"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/bundles"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/gather"
)

// endsOf is a queue in whose state there are bundles "c.<i>.0", at revisions from 7 on, of three
// members each.
func endsOf(t *testing.T, bundle int) (q *writeQueue, end func(revision uint64, place int) write) {
	t.Helper()
	rules := tasks.NewScheduler(tasks.SchedulerConfig{Epoch: 1})
	for i := range bundle {
		name, revision := bundles.ID(fmt.Sprint("c.", i), 0), uint64(7+i)
		rules.Step(1, tasks.Bundled{Name: name, Revision: revision, Indexes: []uint16{0, 1, 2}}, nil)
		rules.Step(1, tasks.Submitted{
			ID: bundles.ID(fmt.Sprint("c.", i), 1), Revision: revision, Policy: &tasks.Policy{Retention: time.Hour},
		}, nil)
	}
	q = &writeQueue{
		term: &term{began: time.Now(), rules: rules}, loop: loop{put: func(any) {}, step: func(tasks.Event) {}},
		announcer: &announcer{}, most: natskv.MaxBatch, guard: 1,
	}
	return q, func(revision uint64, place int) write {
		return write{
			guard: 1, number: revision*10 + uint64(place), member: bundles.Member{Revision: revision, Place: place},
			op: natskv.Write{Key: record.QueueKey + bundles.ID(fmt.Sprint("c.", revision-7), place)},
		}
	}
}

func keysOf(ops []natskv.Write) (keys []string) {
	for i := range ops {
		keys = append(keys, ops[i].Key)
	}
	return keys
}

// TestWhatGoesAlongWithMembers: beside the outcomes of some members goes one record for each
// bundle, and the bundle is emptied when all have ended.
func TestWhatGoesAlongWithMembers(t *testing.T) {
	q, end := endsOf(t, 2)
	for _, w := range []write{end(7, 0), end(8, 2), end(7, 2)} {
		q.add(w)
	}
	list, ops := q.take(natskv.MaxBatch)
	along := q.along(list)
	if len(ops) != 3 || !slices.Equal(keysOf(along), []string{"e.c.0.0", "e.c.1.0"}) {
		t.Fatalf("%q along with %q", keysOf(along), keysOf(ops))
	}
	e, err := record.DecodeEnded(along[0].Value)
	if err != nil || e.Of != 7 || !e.Places.Has(0) || e.Places.Has(1) || !e.Places.Has(2) {
		t.Errorf("%+v, %v", e, err)
	}
	q.rules.Step(2, tasks.MembersEnded{Name: "c.0.0", Of: 7, Ended: e.Places}, nil)
	q.add(end(7, 1))
	list, _ = q.take(natskv.MaxBatch)
	along = q.along(list)
	if !slices.Equal(keysOf(along), []string{"b.c.0.0", "e.c.0.0"}) || len(along[0].Value)+len(along[1].Value) > 0 ||
		along[0].TTL != time.Hour || along[1].TTL != record.MinRetention {
		t.Errorf("%+v at the end", along)
	}
}

// TestABatchHasRoomForWhatGoesAlong: the records of bundles are within the server's bound.
func TestABatchHasRoomForWhatGoesAlong(t *testing.T) {
	const all = natskv.MaxBatch
	q, end := endsOf(t, all)
	for i := range uint64(all) {
		q.add(end(7+i, 0))
		q.rules.Step(2, tasks.MembersEnded{
			Name: bundles.ID(fmt.Sprint("c.", i), 0), Of: 7 + i, Ended: bundles.Set{6},
		}, nil)
	}
	taken := 0
	for len(q.queue) > 0 {
		list, ops := q.take(natskv.MaxBatch)
		taken += len(list)
		n := len(ops) + len(q.along(list))
		if n > natskv.MaxBatch || len(list) < all/(1+mostBundleRecords)-1 && len(q.queue) > 0 {
			t.Fatalf("a batch of %d records, of %d writes", n, len(list))
		}
	}
	if taken != all {
		t.Errorf("%d of %d", taken, all)
	}
	for range all - 1 {
		q.queue = append(q.queue, write{guard: 1, op: natskv.Write{Key: "q.alone"}})
	}
	q.add(end(7, 0))
	list, ops := q.take(natskv.MaxBatch)
	if n := len(ops) + len(q.along(list)); n > natskv.MaxBatch || len(list) < all-1 {
		t.Errorf("a batch of %d records, of %d writes", n, len(list))
	}
}

// TestNoMemberFollowsABatchOfWhichNothingIsKnown: under the same seal. Others do, and so does the
// member under the next one. The rules are told, for a new seal.
func TestNoMemberFollowsABatchOfWhichNothingIsKnown(t *testing.T) {
	q, end := endsOf(t, 1)
	asked := false
	q.step = func(ev tasks.Event) {
		_, is := ev.(tasks.EndsUnknown)
		asked = asked || is
	}
	q.batchDone(batchDone{
		list: []write{end(7, 0), end(7, 1)}, along: 1, result: natskv.Result{Err: errors.New("silence")},
	})
	if !asked {
		t.Error("no new seal is asked for")
	}
	q.queue = []write{end(7, 2), {guard: 1, op: natskv.Write{Key: "q.alone"}}}
	if q.drop(); len(q.queue) != 1 || q.queue[0].op.Key != "q.alone" {
		t.Errorf("%+v stay", q.queue)
	}
	again := end(7, 2)
	again.guard, q.guard = 2, 2
	q.queue = []write{again}
	if q.drop(); len(q.queue) != 1 {
		t.Error("it does not go under the next seal")
	}
}

// TestAFewMembersWaitAfterABatch: for others that end soon, and the loop comes back for them.
func TestAFewMembersWaitAfterABatch(t *testing.T) {
	q, end := endsOf(t, 1)
	q.add(end(7, 0))
	if q.gathered() == 0 || q.due() > 0 {
		t.Error("the first one waits")
	}
	q.rule.Batch(q.now(), 1)
	q.rule.BatchAnswered(q.now().Add(time.Hour), gather.Stored, 0)
	if d := q.due(); q.gathered() != 0 || d <= 0 || d > 2*time.Hour {
		t.Errorf("it goes at once, or the loop comes back after %v", d)
	}
	for range 100 {
		q.add(end(7, 1))
	}
	if q.gathered() == 0 || q.due() > 0 {
		t.Error("many wait")
	}
}

// TestRevisionsOfABatchWithMembers: what goes along is stored after the outcomes.
func TestRevisionsOfABatchWithMembers(t *testing.T) {
	q, end := endsOf(t, 1)
	revisions := map[uint64]uint64{}
	q.step = func(ev tasks.Event) {
		if w, ok := ev.(*tasks.Written); ok {
			revisions[w.Write] = w.Revision
		}
	}
	q.batchDone(batchDone{
		list: []write{end(7, 0), end(7, 1)}, along: 1, result: natskv.Result{Outcome: natskv.Won, Revision: 103},
	})
	if revisions[70] != 101 || revisions[71] != 102 {
		t.Errorf("%v", revisions)
	}
}

// TestRecordsOfALaterVersionThatFence: a scheduler that cannot read which members there are, or
// which of them have ended, would tidy what is theirs, or run them again.
func TestRecordsOfALaterVersionThatFence(t *testing.T) {
	var fenced error
	a := &applier{fence: func(err error) { fenced = err }}
	for key, apply := range map[string]func(){
		"e.c.0.0": func() {
			a.applyEnded(&natskv.Entry{Key: "e.c.0.0", Value: []byte(`{"v":2,"of":7}`)}, "c.0.0")
		},
		"b.c.0.0": func() {
			a.applyBundle(&natskv.Entry{
				Key: "b.c.0.0", Value: []byte("x"), Header: nats.Header{record.HeaderBundle: {`{"v":2}`}},
			}, "c.0.0", false)
		},
	} {
		fenced = nil
		apply()
		if !errors.Is(fenced, taskerr.ErrFenced) || !errors.Is(fenced, record.ErrRecord) ||
			!strings.Contains(fenced.Error(), key) {
			t.Errorf("%s: %v", key, fenced)
		}
	}
}

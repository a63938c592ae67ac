package scheduler

import (
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestNoBatchBesideWritesThatGoAlone: on one server, when only some of what waits goes alone, the
// rest waits for the answers.
func TestNoBatchBesideWritesThatGoAlone(t *testing.T) {
	closed, err := natskv.NewWriter(natstest.Connect(t, natstest.Server(t)), &natskv.Stream{})
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	const all = 100
	q := &writeQueue{
		term: &term{began: time.Now()}, loop: loop{put: func(any) {}}, writer: closed, most: natskv.MaxBatch,
	}
	ticket, _ := q.rule.Enter(q.now(), 1)
	for range all {
		q.add(write{guard: 1, op: natskv.Write{Key: "q.x"}})
	}
	if q.flush(); len(q.queue) != all || q.flying {
		t.Fatalf("%d of %d wait for the first answer; a batch is under way: %v", len(q.queue), all, q.flying)
	}
	q.answered(&write{alone: true, ticket: ticket})
	if q.flush(); len(q.queue) == 0 || len(q.queue) == all || q.flying {
		t.Errorf("%d of %d wait for the next answers; a batch is under way: %v", len(q.queue), all, q.flying)
	}
}
